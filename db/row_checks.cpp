// SPDX-License-Identifier: Apache-2.0
#include "db/row_checks.h"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <span>

#include "db/trial_codec.h"
#include "engine/base/assert.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"

namespace tw::db {
namespace {

/// All of a trial's columns but the checksum, in the order of the table.
constexpr const char* kSummed[] = {
    "id",          "session_id", "task_id",   "number",     "space",     "config_index",    "steps_hash",    "config_json", "steps_json",      "status",
    "message",     "seconds",    "flagged",   "inner_runs", "censored",  "verified",        "max_rel_error", "build_s",     "load_s",          "run_s",
    "timestamp_s", "final_s",    "final_low", "final_high", "predicted", "predicted_after", "predicted_by",  "weights",     "samples_checksum", "record_hash",
    "fill_s",      "verify_s"};

/// What record_hash covers, before the samples.
constexpr const char* kIdentity[] = {"space", "config_index", "steps_hash", "status", "timestamp_s"};

std::string summed(const std::string& trial) {
  std::string text;
  for (const char* column : kSummed) text += fmt::format(", {}.{}", trial, column);
  return text;
}

void append_number(std::string& bytes, int64_t value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); }

void append_value(std::string& bytes, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      return append_number(bytes, -1);
    case SQLITE_INTEGER:
      return append_number(bytes, sqlite3_value_int64(value));
    case SQLITE_FLOAT:
      return append_number(bytes, std::bit_cast<int64_t>(sqlite3_value_double(value)));
    default: {
      const void* data = sqlite3_value_blob(value);  // of a text too: its bytes
      const int size = sqlite3_value_bytes(value);
      append_number(bytes, size);
      if (size > 0) bytes.append(static_cast<const char*>(data), static_cast<size_t>(size));
    }
  }
}

int64_t checksum_of(int count, sqlite3_value** values) {
  thread_local std::string bytes;
  bytes.clear();
  for (int i = 0; i < count; ++i) append_value(bytes, values[i]);
  return std::bit_cast<int64_t>(stable_hash(bytes));
}

void row_checksum(sqlite3_context* context, int count, sqlite3_value** values) { sqlite3_result_int64(context, checksum_of(count, values)); }

void whole(sqlite3_context* context, int count, sqlite3_value** values) {
  constexpr int kValues = 3;
  const bool fits =
      count > kValues && sqlite3_value_type(values[2]) == SQLITE_INTEGER && sqlite3_value_int64(values[2]) == checksum_of(count - kValues, values + kValues);
  if (!fits) {
    static_cast<Damage*>(sqlite3_user_data(context))->add({reinterpret_cast<const char*>(sqlite3_value_text(values[0])), sqlite3_value_int64(values[1])});
  }
  sqlite3_result_int(context, fits ? 1 : 0);
}

void samples_fit(sqlite3_context* context, int count, sqlite3_value** values) {
  const auto* data = count == 1 ? static_cast<const char*>(sqlite3_value_blob(values[0])) : nullptr;
  records::MeasureResult result;
  sqlite3_result_int(context, data != nullptr && unpack_samples({data, static_cast<size_t>(sqlite3_value_bytes(values[0]))}, result) ? 1 : 0);
}

void add_function(SQLite::Database& connection, const char* name, void* data, void (*f)(sqlite3_context*, int, sqlite3_value**)) {
  const int code = sqlite3_create_function_v2(connection.getHandle(), name, -1, SQLITE_UTF8, data, f, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw SQLite::Exception(connection.getHandle(), code);
}

}  // namespace

void Damage::add(DamagedRow row) {
  constexpr size_t kKept = 10'000;  // a file that is damaged throughout is as bad as one with so many
  if (rows_.size() < kKept) rows_.insert(std::move(row));
}

void add_row_checks(SQLite::Database& connection, Damage& damage) {
  add_function(connection, "row_checksum", nullptr, row_checksum);
  add_function(connection, "whole", &damage, whole);
  add_function(connection, "samples_fit", nullptr, samples_fit);
}

std::string whole_trial(const std::string& trial) { return fmt::format("whole('trial', {0}.id, {0}.checksum{1})", trial, summed(trial)); }
std::string whole_samples(const std::string& trial) { return fmt::format("whole('sample', {0}.id, {0}.samples_checksum, sample.data)", trial); }

std::string insert_of_trial(std::string_view columns) {
  std::map<std::string, std::string, std::less<>> values;  // by column
  std::string given;
  for (std::string_view rest = columns; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string value = fmt::format("?{}", values.size() + 1);
    given += value + ", ";
    values.emplace(trim(rest.substr(0, end)), value);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::string samples = fmt::format("?{}", values.size() + 1);
  const auto sum = [&](std::span<const char* const> of) {
    std::vector<std::string> list;
    for (const char* column : of) {
      TW_ASSERT(values.contains(column), std::string("a trial's column among those that are stored: ") + column);
      list.push_back(values.find(column)->second);
    }
    return fmt::format("{}", fmt::join(list, ", "));
  };
  const std::string samples_sum = fmt::format("row_checksum({})", samples), record_sum = fmt::format("row_checksum({}, {})", sum(kIdentity), samples);
  values["samples_checksum"] = samples_sum, values["record_hash"] = record_sum;
  return fmt::format("INSERT INTO trial({}, samples_checksum, record_hash, checksum) VALUES({}{}, {}, row_checksum({}))", columns, given, samples_sum, record_sum,
                     sum(kSummed));
}

void sum_up_trials(SQLite::Database& connection, const std::string& which) {
  connection.exec(fmt::format("UPDATE trial SET samples_checksum = row_checksum(data), record_hash = row_checksum({}, data) FROM sample WHERE trial_id = trial.id AND {}",
                              fmt::join(kIdentity, ", "), which));
  connection.exec(fmt::format("UPDATE trial SET checksum = row_checksum({}) WHERE {}", summed("trial").substr(2), which));
}

}  // namespace tw::db
