// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/records/json_lines.h"
#include "engine/records/record.h"
#include "engine/records/task.h"

/// The log lines of Ansor, TVM's auto_scheduler:
/// {"i": [[workload key, target, hardware, host, layout, names], [[], steps]], "r": [costs, error, seconds, time], "v": "v0.6"}.
/// A line names no computation that could be lowered here: the workload key holds a hash and shapes. So these are trials to look at, not to compile.
/// Source: TVM v0.9.0, src/auto_scheduler/measure_record.cc (format only); Zheng et al., "Ansor: generating high-performance tensor programs", OSDI 2020.
namespace tw::records {

class LogJson;

struct AnsorRecord {
  std::string workload_key;  ///< JSON text: a hash or a function's name, then shapes
  std::string target;        ///< TVM's target string
  std::string version;       ///< such as "v0.6"
  Record record;             ///< candidate: space "ansor", its steps as JSON text in `config`; there are no steps of ours
  int64_t line = 0;          ///< 1-based, of the log it was read from
};

/// Errors: parse_error naming what is wrong; unsupported for AutoTVM's lines.
Expected<AnsorRecord> parse_ansor_line(std::string_view line, LogJson& reader);
/// One line by itself.
Expected<AnsorRecord> parse_ansor_line(std::string_view line);

/// A trial of ours as TVM writes it, protocol v0.6, without a line's end: its steps with TVM's numbers of stages, its workload by the hash of the text that TVM would
/// print. Its numbers of cores and limits are those of the task's target. `pre_transformed`: it was measured with constants laid out as its loops read them.
/// Errors: unsupported for steps that TVM's records do not have.
Expected<std::string> ansor_line(const Task& task, const Record& record, bool pre_transformed = false);

/// What the task is called: `ansor f4380bb1 [1, 28, 28, 512] ...`, or the function's name in place of `ansor` and hash.
std::string ansor_task_name(const std::string& workload_key);
/// The same for equal workloads, however a version of TVM nests the shapes.
std::string ansor_task_key(const AnsorRecord& record);

struct AnsorLog {
  std::vector<AnsorRecord> records;
  std::vector<LineProblem> problems;  ///< kinds as for AutoTVM's logs
  int64_t lines = 0, comments = 0;
};
AnsorLog read_ansor(std::string_view text);

}  // namespace tw::records
