// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "engine/base/json.h"
#include "engine/records/record.h"

/// AutoTVM's log lines, protocol 0.2: {"input": [target, name, args, {}], "config": {...}, "result": [costs, error, seconds, time], "version": 0.2,
/// "tvm_version": ...}. Our lines carry one more key, "tilewright", which TVM's reader ignores: with it a line is read back exactly. Source: TVM v0.9.0,
/// python/tvm/autotvm/record.py and measure/measure.py (formats only).
namespace tw::records {

class LogJson;

/// AutoTVM's MeasureErrorNo.
enum class AutotvmError : int {
  no_error = 0,
  instantiation = 1,
  compile_host = 2,
  compile_device = 3,
  runtime_device = 4,
  wrong_answer = 5,
  build_timeout = 6,
  run_timeout = 7,
  unknown = 8,
};
AutotvmError autotvm_error(Status status);
/// `infra` for numbers that AutoTVM does not define.
Status status_from_autotvm(int64_t error_no);

/// One line.
struct AutotvmRecord {
  std::string target;                      ///< TVM's target string
  std::string name;                        ///< AutoTVM's task name
  std::string args = "[]", kwargs = "{}";  ///< JSON texts on one line
  Json code_hash;                          ///< null or text
  int error_no = 0;
  std::string tvm_version = "0.9.0";  ///< whose enumeration the indices follow
  std::string task_name, dag_text;    ///< ours, empty for foreign lines; te::print of the task's dag, so that a log needs no database beside it
  Record record;                      ///< task_key is empty for foreign lines; candidate.space is then AutoTVM's task name and there are no steps
  Json extra;                         ///< further top-level keys, kept; null if there are none
  int64_t line = 0;                   ///< 1-based, of the log it was read from
};

/// Our record of a task as a line. Points of AutoTVM's own spaces get AutoTVM's task name; others, and the default schedule, a name that TVM does not look up.
AutotvmRecord to_autotvm(const Task& task, const Record& record);

/// Without a newline; byte for byte what AutoTVM writes, except for our own key. Infinite and NaN costs become failures.
std::string autotvm_line(const AutotvmRecord& record);

/// Errors: parse_error naming the key; unsupported for pickled lines and for Ansor's; version for other protocols.
Expected<AutotvmRecord> parse_autotvm_line(std::string_view line, LogJson& reader);
/// One line by itself.
Expected<AutotvmRecord> parse_autotvm_line(std::string_view line);

/// The arguments of a line as values.
Json args_of(const AutotvmRecord& record);

/// The tasks that a line is a trial of: by our key, else by name, arguments and kind of target (several, where a network fuses one computation with
/// different elementwise work). In the order of `tasks`.
std::vector<const Task*> find_tasks(std::span<const Task> tasks, const AutotvmRecord& record);

}  // namespace tw::records
