// SPDX-License-Identifier: Apache-2.0
#include "engine/records/meta_schedule_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::records {

namespace {

Error not_meta_schedule(const std::string& expected, const Json& found) {
  return Error(ErrorCode::parse_error, "Expected " + expected + ", found " + printable(dump_json(found).substr(0, 60)));
}

bool has_parts(const Json& json, size_t least) { return json.is_array() && json.size() >= least; }

/// [["TENSOR", "float32", [8, 16]], ...]
Expected<std::string> arguments_text(const Json& list) {
  std::string out;
  for (const Json& a : list) {
    if (!has_parts(a, 3) || !a[1].is_string() || !a[2].is_array()) return not_meta_schedule("an argument as [\"TENSOR\", type, shape]", a);
    std::string shape;
    for (const Json& n : a[2]) shape += (shape.empty() ? "" : ", ") + dump_json(n);
    out += (out.empty() ? "" : " ") + printable(a[1].get<std::string>()) + "[" + shape + "]";
  }
  return out;
}

Expected<MeasureResult> result_of(const Json& seconds) {
  MeasureResult m;
  const auto failed = [&](Status status, std::string message) {
    m.samples_s.clear();
    m.status = status;
    m.message = std::move(message);
  };
  m.status = Status::ok;
  if (seconds.is_null()) {
    failed(Status::infra, "MetaSchedule recorded no time");
    return m;
  }
  if (!seconds.is_array()) return not_meta_schedule("a list of seconds", seconds);
  for (const Json& s : seconds) {
    if (!s.is_number()) return not_meta_schedule("a number of seconds", s);
    m.samples_s.push_back(s.get<double>());
  }
  m.sample_flags.assign(m.samples_s.size(), false);
  if (m.samples_s.empty() || m.samples_s.front() >= kFailureCost)
    failed(Status::run_crash, "MetaSchedule recorded a failure");
  else if (!std::all_of(m.samples_s.begin(), m.samples_s.end(), possible_time))
    failed(Status::bad_timing, "Expected times from 1 ns to below 1e9 s, found others");
  return m;
}

}  // namespace

Expected<MetaScheduleRecord> parse_meta_schedule_line(std::string_view line) {
  TW_TRY(const Json json, parse_json(line));
  if (json.is_object()) return Error(ErrorCode::unsupported, "Expected a trial of MetaSchedule, found an object, as records of other tuners are");
  if (!has_parts(json, 2) || !json[0].is_number_integer() || !has_parts(json[1], 4) || !has_parts(json[1][0], 2) || !json[1][0][0].is_array() || !json[1][0][1].is_array() ||
      !json[1][2].is_object() || !json[1][3].is_array())
    return not_meta_schedule("a trial as [workload, [[instructions, decisions], seconds, target, arguments]]", json);
  MetaScheduleRecord r;
  r.workload = json[0].get<int64_t>();
  if (r.workload < 0) return not_meta_schedule("the line of a workload from 0 on", json[0]);
  const Json& trial = json[1];
  for (const Json& instruction : trial[0][0])
    if (!has_parts(instruction, 1) || !instruction[0].is_string()) return not_meta_schedule("an instruction as [name, ...]", instruction);
  TW_TRY(r.record.result, result_of(trial[1]));
  r.target = printable(dump_json(trial[2]));
  TW_TRY(r.arguments, arguments_text(trial[3]));
  r.record.candidate.space = "meta_schedule";
  r.record.candidate.config = dump_json(trial[0]);
  return r;
}

MetaScheduleLog read_meta_schedule(std::string_view text) {
  MetaScheduleLog log;
  const auto take = [&](std::string_view body, int64_t number) -> Expected<void> {
    TW_TRY(MetaScheduleRecord record, parse_meta_schedule_line(body));
    record.line = number;
    log.records.push_back(std::move(record));
    return {};
  };
  log.lines = take_json_lines(text, take, log.problems);
  return log;
}

std::vector<std::string> meta_schedule_workloads(std::string_view text) {
  std::vector<std::string> out;
  for_each_line_of(text, [&](const Line& line) {
    // [hash, module]: the module, which may be large, is left alone.
    const std::string_view body = trim(line.text);
    const size_t end = body.starts_with("[\"") ? body.find('"', 2) : std::string_view::npos;
    const std::string_view hash = end == std::string_view::npos ? std::string_view() : body.substr(2, end - 2);
    const bool decimal = !hash.empty() && hash.find_first_not_of("0123456789") == std::string_view::npos;
    out.emplace_back(decimal ? hash : std::string_view());
  });
  return out;
}

std::string meta_schedule_task_name(const MetaScheduleRecord& record, const std::string& hash) {
  return fmt::format("meta_schedule {} {}", hash.empty() ? fmt::format("workload {}", record.workload) : hash.substr(0, 10), record.arguments.substr(0, 60));
}

}  // namespace tw::records
