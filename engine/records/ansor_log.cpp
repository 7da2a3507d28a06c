// SPDX-License-Identifier: Apache-2.0
#include "engine/records/ansor_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/records/autotvm_json.h"
#include "engine/records/log_line.h"

namespace tw::records {
namespace {

void flatten(const Json& json, std::string& out) {
  if (!json.is_array()) {
    out += dump_json(json) + ",";
    return;
  }
  for (const Json& item : json) flatten(item, out);
}

Expected<void> read_ansor_input(const Json& input, AnsorRecord& r) {
  const bool good = input.is_array() && input.size() == 2 && input[0].is_array() && input[0].size() >= 2 && input[0][0].is_string() &&
                    input[0][1].is_string() && input[1].is_array() && input[1].size() == 2 && input[1][1].is_array();
  if (!good) return bad_line("Expected 'i' as [[workload, target, ...], [[], steps]], found " + shown(input));
  r.workload_key = input[0][0].get<std::string>();
  r.target = input[0][1].get<std::string>();
  for (const Json& step : input[1][1]) {
    if (!step.is_array() || step.empty() || !step[0].is_string()) return bad_line("Expected a step as [code, ...], found " + shown(step));
  }
  Candidate& c = r.record.candidate;
  c.space = "ansor";
  c.config = input[1][1];
  c.index = static_cast<int64_t>(stable_hash(dump_json(c.config)) >> 1);
  return {};
}

Expected<void> read_ansor_result(const Json& result, AnsorRecord& r) {
  const bool good = result.is_array() && result.size() == 4 && result[0].is_array() && !result[0].empty() && result[1].is_number_integer() &&
                    result[2].is_number() && result[3].is_number() &&
                    std::all_of(result[0].begin(), result[0].end(), [](const Json& cost) { return cost.is_number(); });
  if (!good) return bad_line("Expected 'r' as [costs, error, seconds, time], found " + shown(result));
  MeasureResult& m = r.record.result;
  const auto error_no = result[1].get<int64_t>();
  if (error_no < 0 || error_no > static_cast<int>(AutotvmError::unknown))
    return bad_line(fmt::format("Expected an error number from 0 to 8, found {}", error_no));
  m.status = status_from_autotvm(error_no);  // Ansor's numbers are AutoTVM's
  m.run_s = result[2].get<double>();
  m.timestamp_s = result[3].get<double>();
  if (m.status != Status::ok) {
    m.message = fmt::format("Ansor recorded error {}", error_no);
    return {};
  }
  for (const Json& cost : result[0]) m.samples_s.push_back(cost.get<double>());
  m.sample_flags.assign(m.samples_s.size(), false);
  const auto impossible = std::find_if(m.samples_s.begin(), m.samples_s.end(), [](double s) { return !(s > 0) || s >= kFailureCost; });
  if (impossible != m.samples_s.end()) {
    m.message = fmt::format("Expected a time above 0 and below 1e9 s, found {} s", *impossible);
    m.status = Status::bad_timing;
  }
  return {};
}

}  // namespace

Expected<AnsorRecord> parse_ansor_line(std::string_view line) {
  TW_TRY(const Json json, parse_json(line));
  if (!json.is_object()) return bad_line(fmt::format("Expected a record as an object, found {}", json.type_name()));
  if (json.contains("input") && json.contains("result")) return Error(ErrorCode::unsupported, "Expected an Ansor record, found one of AutoTVM");
  for (const char* key : {"i", "r"}) {
    if (!json.contains(key)) return bad_line(fmt::format("Expected a record with the key '{}', found none", key));
  }
  AnsorRecord r;
  if (json.contains("v") && json["v"].is_string()) r.version = json["v"].get<std::string>();
  TW_CHECK(read_ansor_input(json["i"], r));
  TW_CHECK(read_ansor_result(json["r"], r));
  return r;
}

std::string ansor_task_name(const std::string& workload_key) {
  const auto key = parse_json(workload_key);
  if (!key || !key->is_array() || key->empty() || !(*key)[0].is_string()) return "ansor " + printable(workload_key).substr(0, 40);
  std::string first = printable((*key)[0].get<std::string>());
  const bool hash = first.size() == 32 && first.find_first_not_of("0123456789abcdef") == std::string::npos;
  std::string name = hash ? "ansor " + first.substr(0, 8) : first;
  for (size_t i = 1; i < key->size() && name.size() < 60; ++i) name += " " + dump_json((*key)[i]);
  return name;
}

std::string ansor_task_key(const AnsorRecord& record) {
  const auto key = parse_json(record.workload_key);
  std::string flat;
  if (key)
    flatten(*key, flat);
  else
    flat = record.workload_key;
  return content_key("ansor\n" + flat + "\n" + record.target);
}

AnsorLog read_ansor(std::string_view text) {
  AnsorLog log;
  for_each_line_of(text, [&](const Line& line) {
    ++log.lines;
    const auto problem = [&](const char* kind, std::string reason) { log.problems.push_back({line.number, line.offset, kind, std::move(reason)}); };
    if (line.too_long) return problem("too_long", fmt::format("Expected a line of at most {} MiB, found a longer one", kMaxLineBytes >> 20));
    const std::string_view body = trim(line.text);
    if (body.empty()) return;
    if (body.starts_with('#')) {
      ++log.comments;
      return;
    }
    auto record = parse_ansor_line(body);
    if (record) {
      record->line = line.number;
      log.records.push_back(*std::move(record));
    } else if (!parse_json(body)) {
      problem(!line.ended && body.starts_with('{') ? "cut_off" : "not_json", record.error().message);
    } else {
      problem(record.error().code == ErrorCode::unsupported ? "other_format" : "malformed", record.error().message);
    }
  });
  return log;
}

}  // namespace tw::records
