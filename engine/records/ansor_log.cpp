// SPDX-License-Identifier: Apache-2.0
#include "engine/records/ansor_log.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/ansor_steps.h"
#include "engine/records/autotvm_json.h"
#include "engine/records/log_pieces.h"
#include "engine/records/logged_result.h"
#include "engine/records/python_json.h"
#include "engine/records/topi.h"
#include "engine/target/gpu.h"

namespace tw::records {
namespace {

void flatten(const Json& json, std::string& out) {
  if (!json.is_array()) {
    out += dump_json(json) + ",";
    return;
  }
  for (const Json& item : json) flatten(item, out);
}

Expected<void> read_ansor_input(JsonElement input, AnsorRecord& r) {
  const auto parts = exactly<2>(input);
  const auto task = parts ? leading<2>((*parts)[0]) : std::nullopt;
  const auto state = parts ? exactly<2>((*parts)[1]) : std::nullopt;
  if (!task || !state || !(*task)[0].is_string() || !(*task)[1].is_string() || !(*state)[1].is_array())
    return bad_line("Expected 'i' as [[workload, target, ...], [[], steps]], found " + shown(input));
  r.workload_key = string_of((*task)[0]);
  r.target = string_of((*task)[1]);
  const JsonElement steps = (*state)[1];
  for (const JsonElement step : array_of(steps)) {
    const auto code = leading<1>(step);
    if (!code || !(*code)[0].is_string()) return bad_line("Expected a step as [code, ...], found " + shown(step));
  }
  Candidate& c = r.record.candidate;
  c.space = "ansor";
  c.config = json_text(steps);
  return {};
}

/// Cores, bytes of a vector and of a line, shared and local memory of a block, threads of a block, virtual threads, lanes of a warp.
Json hardware_of(const Target& target) {
  if (!target.gpu) return {std::max(1, target.cores), 64, 64, 0, 0, 0, 0, 0};
  return {-1, 16, 64, target::kStaticShared, std::numeric_limits<int32_t>::max(), target::kMaxBlockThreads, target::kWarp / 4, target::kWarp};
}

}  // namespace

Expected<std::string> ansor_line(const Task& task, const Record& record, bool pre_transformed) {
  TW_TRY(const std::vector<schedule::Step> steps, steps_to_ansor(task.dag, record.candidate.steps));
  const MeasureResult& result = record.result;
  Json costs = Json::array();
  if (result.ok())
    for (const double sample : result.counted_samples())
      if (std::isfinite(sample)) costs.push_back(sample);
  const int error = static_cast<int>(autotvm_error(result.status));
  const bool failed = costs.empty();
  if (failed) costs.push_back(1e10);
  Json line = Json::object();
  line["i"] = Json::array({Json::array({tvm_workload_keys(*task.dag).front(), task.target.str(), hardware_of(task.target), "", pre_transformed ? 2 : 0, Json::array()}),
                           Json::array({Json::array(), schedule::to_json(steps)})});
  line["r"] = Json::array({std::move(costs), failed && error == 0 ? static_cast<int>(AutotvmError::unknown) : error, result.build_s + result.load_s + result.run_s,
                           static_cast<int64_t>(result.timestamp_s)});
  line["v"] = "v0.6";
  return python_json(line);
}

Expected<AnsorRecord> parse_ansor_line(std::string_view line, LogJson& reader) {
  TW_TRY(const JsonElement json, reader.parse(line));
  if (!json.is_object()) return bad_line(fmt::format("Expected a record as an object, found {}", type_name(json)));
  if (member(json, "input") && member(json, "result")) return Error(ErrorCode::unsupported, "Expected an Ansor record, found one of AutoTVM");
  for (const char* key : {"i", "r"}) {
    if (!member(json, key)) return bad_line(fmt::format("Expected a record with the key '{}', found none", key));
  }
  AnsorRecord r;
  if (const auto version = member(json, "v"); version && version->is_string()) r.version = string_of(*version);
  TW_CHECK(read_ansor_input(*member(json, "i"), r));
  TW_CHECK(read_logged_result(*member(json, "r"), "r", "Ansor", r.record.result));  // Ansor's error numbers are AutoTVM's
  return r;
}

Expected<AnsorRecord> parse_ansor_line(std::string_view line) {
  LogJson reader;
  return parse_ansor_line(line, reader);
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
  return read_in_pieces(text, [](std::string_view piece) {
    AnsorLog log;
    LogJson reader;
    const auto take = [&](std::string_view body, int64_t number) -> Expected<void> {
      if (body.starts_with('#')) {
        ++log.comments;
        return {};
      }
      TW_TRY(AnsorRecord record, parse_ansor_line(body, reader));
      record.line = number;
      log.records.push_back(std::move(record));
      return {};
    };
    log.lines = take_json_lines(piece, take, log.problems);
    return log;
  });
}

}  // namespace tw::records
