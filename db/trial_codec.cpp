// SPDX-License-Identifier: Apache-2.0
#include "db/trial_codec.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "engine/base/hash.h"
#include "engine/base/json.h"

namespace tw::db {
namespace {

static_assert(std::endian::native == std::endian::little, "blobs are little endian");

double finite(double value) { return std::isfinite(value) ? value : 0; }

/// The column of a candidate without a config holds JSON too.
constexpr const char* kNoConfig = "null";
std::string stored_config(const records::Candidate& c) { return c.config.empty() ? kNoConfig : c.config; }

/// Tells points with the same index apart: by their space, or by what they are where there is no index.
int64_t steps_hash(const records::Candidate& candidate) {
  return std::bit_cast<int64_t>(candidate.index >= 0 ? stable_hash(candidate.space) : records::identity(candidate));
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

void bind_point(SQLite::Statement& put, int first, const records::Candidate& candidate) {
  put.bind(first, candidate.space);
  put.bind(first + 1, candidate.index);
  put.bind(first + 2, steps_hash(candidate));
}

void bind_record(SQLite::Statement& put, int first, const records::Record& record) {
  const records::MeasureResult& r = record.result;
  const double seconds = r.seconds();
  int i = first;
  put.bind(i++, record.candidate.space);
  put.bind(i++, record.candidate.index);
  put.bind(i++, steps_hash(record.candidate));
  put.bind(i++, stored_config(record.candidate));
  put.bind(i++, schedule::json_text(record.candidate.steps));
  put.bind(i++, records::status_name(r.status));
  put.bind(i++, r.message);
  if (std::isfinite(seconds)) {
    put.bind(i++, seconds);
  } else {
    put.bind(i++);
  }
  put.bind(i++, r.flagged);
  put.bind(i++, r.inner);
  put.bind(i++, r.censored ? 1 : 0);
  put.bind(i++, r.verified ? 1 : 0);
  for (const double value : {r.max_rel_error, r.build_s, r.load_s, r.run_s, r.timestamp_s, r.fill_s, r.verify_s}) put.bind(i++, finite(value));
  TW_ASSERT(i == first + kRecordColumnCount, "columns of a trial");
}

void bind_identity(SQLite::Statement& put, int first, const records::Record& record, const std::string& samples) {
  bind_point(put, first, record.candidate);
  put.bind(first + 3, records::status_name(record.result.status));
  put.bind(first + 4, finite(record.result.timestamp_s));
  put.bind(first + 5, samples.data(), static_cast<int>(samples.size()));
}

void bind_verdict(SQLite::Statement& put, int first, const std::optional<records::Verdict>& verdict) {
  if (verdict) {
    put.bind(first, verdict->seconds);
    put.bind(first + 1, verdict->low);
    put.bind(first + 2, verdict->high);
  } else {
    for (int i = 0; i < kFinalColumnCount; ++i) put.bind(first + i);
  }
}

void bind_prediction(SQLite::Statement& put, int first, const std::optional<records::Prediction>& prediction) {
  if (prediction && std::isfinite(prediction->score)) {
    put.bind(first, prediction->score);
    put.bind(first + 1, prediction->samples);
    put.bind(first + 2, prediction->model);
  } else {
    for (int i = 0; i < kPredictionColumnCount; ++i) put.bind(first + i);
  }
}

std::optional<records::Prediction> read_prediction(SQLite::Statement& q, int first) {
  if (q.getColumn(first).isNull()) return std::nullopt;
  return records::Prediction{q.getColumn(first).getDouble(), q.getColumn(first + 1).getInt64(), q.getColumn(first + 2).getString()};
}

void bind_weights(SQLite::Statement& put, int column, records::Weights weights) {
  if (weights == records::Weights::unknown) {
    put.bind(column);
  } else {
    put.bind(column, records::weights_name(weights));
  }
}

records::Weights read_weights(SQLite::Statement& q, int column) { return records::weights_from_name(q.getColumn(column).getString()); }

std::string comparable_trials(records::Weights in_network) {
  if (in_network == records::Weights::unknown) return "1";
  return fmt::format("({0} IS NULL OR {0} = '{1}')", kWeightsColumn, records::weights_name(in_network));
}

Expected<records::Record> read_record(SQLite::Statement& q, int first, bool claimed) {
  records::Record record;
  records::MeasureResult& r = record.result;
  const auto column = [&](int i) { return q.getColumn(first + i); };
  record.candidate.space = column(0).getString();
  record.candidate.index = column(1).getInt64();
  const std::string config = column(3).getString();
  const std::string status = column(5).getString();
  r.status = records::status_from_name(status);
  r.message = column(6).getString();
  r.flagged = column(8).getInt();
  r.inner = column(9).getInt();
  r.censored = column(10).getInt() != 0;
  r.verified = column(11).getInt() != 0;
  r.max_rel_error = column(12).getDouble();
  r.build_s = column(13).getDouble();
  r.load_s = column(14).getDouble();
  r.run_s = column(15).getDouble();
  r.timestamp_s = column(16).getDouble();
  r.fill_s = column(17).getDouble();
  r.verify_s = column(18).getDouble();
  if (status != records::status_name(r.status)) return Error(ErrorCode::corrupt, "A stored trial has an unknown status");
  record.claimed = claimed;
  r.verified = r.verified && !claimed;
  if (!column(kRecordColumnCount).isNull()) {
    r.verdict =
        records::Verdict{column(kRecordColumnCount).getDouble(), column(kRecordColumnCount + 1).getDouble(), column(kRecordColumnCount + 2).getDouble()};
  }
  if (config != kNoConfig) record.candidate.config = config;
  TW_TRY(const Json steps, parse_json(column(4).getString()));
  TW_TRY(record.candidate.steps, schedule::steps_from_json(steps));
  if (record.candidate.index < 0 && !record.candidate.is_default()) record.candidate.fingerprint = std::bit_cast<uint64_t>(column(2).getInt64());
  return record;
}

std::string pack_samples(const records::MeasureResult& result) {
  std::string body;
  append(body, static_cast<uint64_t>(result.samples_s.size()));
  for (const double sample : result.samples_s) append(body, sample);
  for (size_t i = 0; i < result.samples_s.size(); ++i) body += static_cast<char>(i < result.sample_flags.size() && result.sample_flags[i] ? 1 : 0);
  std::string blob;
  append(blob, stable_hash(body));
  return blob + body;
}

Expected<void> unpack_samples(std::string_view blob, records::MeasureResult& result) {
  const Error damaged(ErrorCode::corrupt, "The stored samples of a trial do not match their checksum");
  constexpr size_t kHead = 2 * sizeof(uint64_t), kEach = sizeof(double) + 1;
  uint64_t sum = 0, count = 0;
  if (blob.size() < kHead) return damaged;
  std::memcpy(&sum, blob.data(), sizeof(sum));
  std::memcpy(&count, blob.data() + sizeof(sum), sizeof(count));
  if (sum != stable_hash(blob.substr(sizeof(sum))) || count != (blob.size() - kHead) / kEach) return damaged;
  result.samples_s.resize(count);
  if (count > 0) std::memcpy(result.samples_s.data(), blob.data() + kHead, count * sizeof(double));
  result.sample_flags.assign(count, false);
  for (size_t i = 0; i < count; ++i) result.sample_flags[i] = blob[kHead + count * sizeof(double) + i] != 0;
  return {};
}

}  // namespace tw::db
