// SPDX-License-Identifier: Apache-2.0
#include "engine/records/autotvm_json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/autotvm_task.h"
#include "engine/records/json_fields.h"
#include "engine/records/log_line.h"
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
};

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
  ours["config"] = r.record.candidate.config;
  ours["steps"] = schedule::to_json(r.record.candidate.steps);
  ours["result"] = to_json(r.record.result);
  return ours;
}

Expected<void> read_ours(const Json& json, AutotvmRecord& r) {
  FieldReader fields(json, "the key 'tilewright'");
  Json steps, result;
  fields.required("task", r.record.task_key);
  fields.optional("task_name", r.task_name);
  fields.optional("dag", r.dag_text);
  fields.required("space", r.record.candidate.space);
  fields.required("index", r.record.candidate.index);
  fields.required("config", r.record.candidate.config);
  fields.required("steps", steps);
  fields.required("result", result);
  TW_CHECK(fields.done());
  TW_TRY(r.record.candidate.steps, schedule::steps_from_json(steps));
  TW_TRY(r.record.result, measure_result_from_json(result));
  return {};
}

Expected<void> read_input(const Json& input, AutotvmRecord& r) {
  const bool good = input.is_array() && input.size() == 4 && input[0].is_string() && input[1].is_string() && input[2].is_array() && input[3].is_object();
  if (!good) return bad_line("Expected 'input' as [target, name, args, kwargs], found " + shown(input));
  r.target = input[0].get<std::string>();
  r.name = input[1].get<std::string>();
  r.args = input[2];
  r.kwargs = input[3];
  return {};
}

Expected<void> read_config(const Json& config, AutotvmRecord& r) {
  FieldReader fields(config, "'config'");
  Candidate& c = r.record.candidate;
  fields.optional("index", c.index);
  fields.optional("code_hash", r.code_hash);
  fields.required("entity", c.config);
  TW_CHECK(fields.done());
  const bool good = c.config.is_array() && std::all_of(c.config.begin(), c.config.end(), [](const Json& knob) {
                      return knob.is_array() && knob.size() == 3 && knob[0].is_string() && knob[1].is_string();
                    });
  if (!good) return bad_line("Expected 'entity' as a list of [knob, kind, value], found " + shown(c.config));
  return {};
}

Expected<void> read_result(const Json& result, AutotvmRecord& r) {
  const bool good = result.is_array() && result.size() == 4 && result[0].is_array() && !result[0].empty() && result[1].is_number_integer() &&
                    result[2].is_number() && result[3].is_number() &&
                    std::all_of(result[0].begin(), result[0].end(), [](const Json& cost) { return cost.is_number(); });
  if (!good) return bad_line("Expected 'result' as [costs, error, seconds, time], found " + shown(result));
  MeasureResult& m = r.record.result;
  const auto error_no = result[1].get<int64_t>();
  if (error_no < 0 || error_no > static_cast<int>(AutotvmError::unknown))
    return bad_line(fmt::format("Expected an error number from 0 to 8, found {}", error_no));
  r.error_no = static_cast<int>(error_no);
  m.status = status_from_autotvm(error_no);
  m.run_s = result[2].get<double>();
  m.timestamp_s = result[3].get<double>();
  if (m.status != Status::ok) {
    m.message = fmt::format("AutoTVM recorded error {}", error_no);
    return {};
  }
  for (const Json& cost : result[0]) m.samples_s.push_back(cost.get<double>());
  const auto impossible = std::find_if(m.samples_s.begin(), m.samples_s.end(), [](double s) { return !(s > 0) || s >= kFailureCost; });
  if (impossible != m.samples_s.end()) {
    m.message = fmt::format("Expected a time above 0 and below 1e9 s, found {} s", *impossible);
    m.status = Status::bad_timing;
    r.error_no = static_cast<int>(autotvm_error(m.status));
  }
  return {};
}

/// Says what a line of another format is, or nothing.
std::string foreign_format(std::string_view line) {
  const auto tabs = std::count(line.begin(), line.end(), '\t');
  if (!line.starts_with('{') && (tabs == 3 || tabs == 5))
    return "Expected a JSON line, found AutoTVM's pickled form, which runs code when it is read and is refused";
  return {};
}

Expected<void> check_protocol(const Json& json) {
  if (!json.is_object()) return bad_line(fmt::format("Expected a record as an object, found {}", json.type_name()));
  if (json.contains("i") && json.contains("r")) {
    const bool old = json.contains("v") && json["v"].is_number();
    if (old) return Error(ErrorCode::version, "Expected AutoTVM's protocol 0.2, found 0.1, whose points cannot be mapped");
    return Error(ErrorCode::unsupported, "Expected an AutoTVM record, found one of Ansor");
  }
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number()) return bad_line("Expected a record with the number 'version', found none");
  if (version->get<double>() != kProtocol) return Error(ErrorCode::version, "Expected AutoTVM's protocol 0.2, found " + version->dump());
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
  AutotvmTask named = autotvm_task(*task.dag);
  AutotvmRecord r;
  r.target = task.target.str();
  const std::string& space = record.candidate.space;
  const bool theirs = std::find(named.names.begin(), named.names.end(), space) != named.names.end();
  r.name = theirs ? space : "tilewright." + space;
  r.args = std::move(named.args);
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
  config["entity"] = candidate.config.is_array() ? candidate.config : Json::array();
  Json costs = costs_json(r);
  const bool failed = r.error_no == 0 && costs[0] == kFailureCost;
  const int error_no = failed ? static_cast<int>(AutotvmError::unknown) : r.error_no;
  Json line = Json::object();
  line["input"] = Json::array({r.target, r.name, r.args, r.kwargs});
  line["config"] = std::move(config);
  line["result"] = Json::array({std::move(costs), error_no, result.build_s + result.load_s + result.run_s, result.timestamp_s});
  line["version"] = kProtocol;
  line["tvm_version"] = r.tvm_version;
  for (const auto& item : r.extra.items()) line[item.key()] = item.value();
  if (!r.record.task_key.empty()) line[kOurKey] = ours_json(r);
  return python_json(line);
}

Expected<AutotvmRecord> parse_autotvm_line(std::string_view line) {
  if (std::string other = foreign_format(line); !other.empty()) return Error(ErrorCode::unsupported, std::move(other));
  TW_TRY(const Json json, parse_json(line));
  TW_CHECK(check_protocol(json));
  FieldReader fields(json, "a record");
  AutotvmRecord r;
  const Json *input = nullptr, *config = nullptr, *result = nullptr;
  fields.required("input", input);
  fields.required("config", config);
  fields.required("result", result);
  r.tvm_version.clear();
  fields.optional("tvm_version", r.tvm_version);
  TW_CHECK(fields.done());
  TW_CHECK(read_input(*input, r));
  TW_CHECK(read_config(*config, r));
  TW_CHECK(read_result(*result, r));
  r.record.candidate.space = r.name;
  for (const auto& item : json.items()) {
    const std::string& key = item.key();
    if (key == kOurKey) {
      TW_CHECK(read_ours(item.value(), r));
    } else if (key != "input" && key != "config" && key != "result" && key != "version" && key != "tvm_version") {
      r.extra[key] = item.value();
    }
  }
  return r;
}

std::vector<const Task*> find_tasks(std::span<const Task> tasks, const AutotvmRecord& record) {
  const std::string kind = record.target.substr(0, record.target.find(' '));
  std::vector<const Task*> found;
  for (const Task& task : tasks) {
    if (!record.record.task_key.empty()) {
      if (task.key == record.record.task_key) found.push_back(&task);
    } else if (task.target.kind == kind && same_workload(autotvm_task(*task.dag), record.name, record.args)) {
      found.push_back(&task);
    }
  }
  return found;
}

}  // namespace tw::records
