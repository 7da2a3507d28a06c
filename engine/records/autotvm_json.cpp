// SPDX-License-Identifier: Apache-2.0
#include "engine/records/autotvm_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/autotvm_task.h"
#include "engine/records/json_fields.h"
#include "engine/records/logged_result.h"
#include "engine/records/python_json.h"

namespace tw::records {
namespace {

constexpr const char* kOurKey = "tilewright";
constexpr double kProtocol = 0.2;

struct ErrorRow {
  Status status;
  AutotvmError error;
};

/// The first row with an error number is what that number is read as.
constexpr std::array kErrors = {
    ErrorRow{Status::ok, AutotvmError::no_error},
    ErrorRow{Status::lower_fail, AutotvmError::instantiation},
    ErrorRow{Status::build_fail, AutotvmError::compile_host},
    ErrorRow{Status::build_fail, AutotvmError::compile_device},
    ErrorRow{Status::run_crash, AutotvmError::runtime_device},
    ErrorRow{Status::build_crash, AutotvmError::runtime_device},
    ErrorRow{Status::load_fail, AutotvmError::runtime_device},
    ErrorRow{Status::out_of_memory, AutotvmError::runtime_device},
    ErrorRow{Status::wrong_output, AutotvmError::wrong_answer},
    ErrorRow{Status::build_timeout, AutotvmError::build_timeout},
    ErrorRow{Status::run_timeout, AutotvmError::run_timeout},
    ErrorRow{Status::infra, AutotvmError::unknown},
    ErrorRow{Status::bad_timing, AutotvmError::unknown},
    ErrorRow{Status::cancelled, AutotvmError::unknown},
    ErrorRow{Status::not_recorded, AutotvmError::unknown},
};

/// A text of a record as values. Records made by hand may hold what is no JSON.
Json values_of(const std::string& text) {
  const auto json = parse_json(text);
  return json ? *json : Json();
}

Json costs_json(const AutotvmRecord& r) {
  const MeasureResult& result = r.record.result;
  Json costs = Json::array();
  if (r.error_no == 0) {
    for (const double sample : result.counted_samples()) {
      if (std::isfinite(sample)) costs.push_back(sample);
    }
  }
  if (costs.empty()) costs.push_back(kFailureCost);
  return costs;
}

Json ours_json(const AutotvmRecord& r) {
  Json ours = Json::object();
  ours["task"] = r.record.task_key;
  ours["task_name"] = r.task_name;
  if (!r.dag_text.empty()) ours["dag"] = r.dag_text;
  ours["space"] = r.record.candidate.space;
  ours["index"] = r.record.candidate.index;
  if (r.record.candidate.fingerprint != 0) ours["fingerprint"] = fmt::format("{:016x}", r.record.candidate.fingerprint);
  ours["config"] = values_of(r.record.candidate.config);
  ours["steps"] = schedule::to_json(r.record.candidate.steps);
  ours["result"] = to_json(r.record.result);
  return ours;
}

Expected<void> read_ours(const Json& json, AutotvmRecord& r) {
  FieldReader fields(json, "the key 'tilewright'");
  Json config, steps, result;
  std::string fingerprint;
  fields.required("task", r.record.task_key);
  fields.optional("task_name", r.task_name);
  fields.optional("dag", r.dag_text);
  fields.required("space", r.record.candidate.space);
  fields.required("index", r.record.candidate.index);
  fields.optional("fingerprint", fingerprint);
  fields.required("config", config);
  fields.required("steps", steps);
  fields.required("result", result);
  TW_CHECK(fields.done());
  const auto [end, bad] = std::from_chars(fingerprint.data(), fingerprint.data() + fingerprint.size(), r.record.candidate.fingerprint, 16);
  if (!fingerprint.empty() && (bad != std::errc() || end != fingerprint.data() + fingerprint.size()))
    return bad_line("Expected 'fingerprint' as hexadecimal digits, found " + printable(fingerprint.substr(0, 40)));
  r.record.candidate.config = config.is_null() ? "" : dump_json(config);
  TW_TRY(r.record.candidate.steps, schedule::steps_from_json(steps));
  TW_TRY(r.record.result, measure_result_from_json(result));
  return {};
}

Expected<void> read_input(JsonElement input, AutotvmRecord& r) {
  const auto parts = exactly<4>(input);
  if (!parts || !(*parts)[0].is_string() || !(*parts)[1].is_string() || !(*parts)[2].is_array() || !(*parts)[3].is_object())
    return bad_line("Expected 'input' as [target, name, args, kwargs], found " + shown(input));
  r.target = string_of((*parts)[0]);
  r.name = string_of((*parts)[1]);
  r.args = json_text((*parts)[2]);
  r.kwargs = json_text((*parts)[3]);
  return {};
}

Error mistyped(const char* what, const char* key, JsonElement found) {
  return bad_line(fmt::format("Expected {} whose '{}' has another type, found {}", what, key, shown(found)));
}

Expected<void> read_config(JsonElement config, AutotvmRecord& r) {
  if (!config.is_object()) return bad_line(fmt::format("Expected 'config' as an object, found {}", type_name(config)));
  Candidate& c = r.record.candidate;
  if (const auto index = member(config, "index"); index && index->get(c.index) != simdjson::SUCCESS) return mistyped("'config'", "index", *index);
  if (const auto hash = member(config, "code_hash"); hash && !hash->is_null()) r.code_hash = to_json(*hash);
  const auto entity = member(config, "entity");
  if (!entity) return bad_line("Expected 'config' with the key 'entity', found none");
  const auto bad = [&] { return bad_line("Expected 'entity' as a list of [knob, kind, value], found " + shown(*entity)); };
  simdjson::dom::array knobs;
  if (entity->get(knobs) != simdjson::SUCCESS) return bad();
  for (const JsonElement knob : knobs) {
    const auto parts = exactly<3>(knob);
    if (!parts || !(*parts)[0].is_string() || !(*parts)[1].is_string()) return bad();
  }
  c.config = json_text(*entity);
  return {};
}

/// Says what a line of another format is, or nothing.
std::string foreign_format(std::string_view line) {
  const auto tabs = std::count(line.begin(), line.end(), '\t');
  if (!line.starts_with('{') && (tabs == 3 || tabs == 5))
    return "Expected a JSON line, found AutoTVM's pickled form, which runs code when it is read and is refused";
  return {};
}

Expected<void> check_protocol(JsonElement json) {
  if (!json.is_object()) return bad_line(fmt::format("Expected a record as an object, found {}", type_name(json)));
  if (member(json, "i") && member(json, "r")) {
    if (const auto v = member(json, "v"); v && is_number(*v))
      return Error(ErrorCode::version, "Expected AutoTVM's protocol 0.2, found 0.1, whose points cannot be mapped");
    return Error(ErrorCode::unsupported, "Expected an AutoTVM record, found one of Ansor");
  }
  const auto version = member(json, "version");
  if (!version || !is_number(*version)) return bad_line("Expected a record with the number 'version', found none");
  if (value_of<double>(*version) != kProtocol) return Error(ErrorCode::version, "Expected AutoTVM's protocol 0.2, found " + shown(*version));
  return {};
}

}  // namespace

AutotvmError autotvm_error(Status status) {
  for (const ErrorRow& row : kErrors) {
    if (row.status == status) return row.error;
  }
  TW_UNREACHABLE("status");
}

Status status_from_autotvm(int64_t error_no) {
  for (const ErrorRow& row : kErrors) {
    if (static_cast<int64_t>(row.error) == error_no) return row.status;
  }
  return Status::infra;
}

AutotvmRecord to_autotvm(const Task& task, const Record& record) {
  const AutotvmTask named = autotvm_task(*task.dag, task.target);
  AutotvmRecord r;
  r.target = task.target.str();
  const std::string& space = record.candidate.space;
  const bool theirs = std::find(named.names.begin(), named.names.end(), space) != named.names.end();
  r.name = theirs ? space : "tilewright." + space;
  r.args = dump_json(named.args);
  r.task_name = task.name;
  r.dag_text = te::print(*task.dag);
  r.record = record;
  r.error_no = static_cast<int>(autotvm_error(record.result.status));
  return r;
}

std::string autotvm_line(const AutotvmRecord& r) {
  const Candidate& candidate = r.record.candidate;
  const MeasureResult& result = r.record.result;
  Json config = Json::object();
  config["index"] = std::max<int64_t>(candidate.index, 0);
  config["code_hash"] = r.code_hash;
  config["entity"] = candidate.config.empty() ? Json::array() : values_of(candidate.config);
  Json costs = costs_json(r);
  const bool failed = r.error_no == 0 && costs[0] == kFailureCost;
  const int error_no = failed ? static_cast<int>(AutotvmError::unknown) : r.error_no;
  Json line = Json::object();
  line["input"] = Json::array({r.target, r.name, values_of(r.args), values_of(r.kwargs)});
  line["config"] = std::move(config);
  line["result"] = Json::array({std::move(costs), error_no, result.build_s + result.load_s + result.run_s, result.timestamp_s});
  line["version"] = kProtocol;
  line["tvm_version"] = r.tvm_version;
  for (const auto& item : r.extra.items()) line[item.key()] = item.value();
  if (!r.record.task_key.empty()) line[kOurKey] = ours_json(r);
  return python_json(line);
}

Expected<AutotvmRecord> parse_autotvm_line(std::string_view line, LogJson& reader) {
  if (std::string other = foreign_format(line); !other.empty()) return Error(ErrorCode::unsupported, std::move(other));
  TW_TRY(const JsonElement json, reader.parse(line));
  TW_CHECK(check_protocol(json));
  for (const char* key : {"input", "config", "result"}) {
    if (!member(json, key)) return bad_line(fmt::format("Expected a record with the key '{}', found none", key));
  }
  AutotvmRecord r;
  r.tvm_version.clear();
  if (const auto version = member(json, "tvm_version")) {
    if (!version->is_string()) return mistyped("a record", "tvm_version", *version);
    r.tvm_version = string_of(*version);
  }
  TW_CHECK(read_input(*member(json, "input"), r));
  TW_CHECK(read_config(*member(json, "config"), r));
  TW_TRY(r.error_no, read_logged_result(*member(json, "result"), "result", "AutoTVM", r.record.result));
  r.record.candidate.space = r.name;
  for (const auto& [key, value] : object_of(json)) {
    if (key == kOurKey) {
      TW_CHECK(read_ours(to_json(value), r));
    } else if (key != "input" && key != "config" && key != "result" && key != "version" && key != "tvm_version") {
      r.extra[std::string(key)] = to_json(value);
    }
  }
  return r;
}

Expected<AutotvmRecord> parse_autotvm_line(std::string_view line) {
  LogJson reader;
  return parse_autotvm_line(line, reader);
}

Json args_of(const AutotvmRecord& record) { return values_of(record.args); }

std::vector<const Task*> find_tasks(std::span<const Task> tasks, const AutotvmRecord& record) {
  const std::string kind = record.target.substr(0, record.target.find(' '));
  const Json args = args_of(record);
  std::vector<const Task*> found;
  for (const Task& task : tasks) {
    if (!record.record.task_key.empty()) {
      if (task.key == record.record.task_key) found.push_back(&task);
    } else if (task.target.kind == kind && same_workload(autotvm_task(*task.dag, task.target), record.name, args)) {
      found.push_back(&task);
    }
  }
  return found;
}

}  // namespace tw::records
