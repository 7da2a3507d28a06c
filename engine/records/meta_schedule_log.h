// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/records/json_lines.h"
#include "engine/records/record.h"

/// The databases of MetaSchedule, TVM's third tuner: two files of lines in one folder. One has a workload each, [hash, module], the other a trial each,
/// [workload, [[instructions, decisions], seconds, target, arguments]], where `workload` counts the lines of the first.
/// A trace of instructions is no list of steps that could be lowered here, and a module is not read: these are trials to look at, not to compile.
/// Source: TVM, src/meta_schedule/database (format only); Shao et al., "Tensor program optimization with probabilistic programs", NeurIPS 2022.
namespace tw::records {

/// The file of trials, and that of workloads beside it.
inline constexpr const char* kMetaScheduleWorkloads = "database_workload.json";

struct MetaScheduleRecord {
  int64_t workload = 0;   ///< line of the other file, from 0
  std::string arguments;  ///< such as "float32[8, 16] float32[12, 16]"
  std::string target;     ///< kind and model, as JSON text
  Record record;          ///< candidate: space "meta_schedule", its trace as JSON text in `config`
  int64_t line = 0;       ///< 1-based, of the log it was read from
};

/// Errors: parse_error naming what is wrong; unsupported for records of other tuners.
Expected<MetaScheduleRecord> parse_meta_schedule_line(std::string_view line);

struct MetaScheduleLog {
  std::vector<MetaScheduleRecord> records;
  std::vector<LineProblem> problems;  ///< kinds as for AutoTVM's logs
  int64_t lines = 0;
};
MetaScheduleLog read_meta_schedule(std::string_view text);
/// The structural hash of each workload, in decimal as it stands there; empty for lines that have none.
std::vector<std::string> meta_schedule_workloads(std::string_view text);

/// What a task is called, such as `meta_schedule 1201706277 float32[8, 16] ...`; `hash` may be empty.
std::string meta_schedule_task_name(const MetaScheduleRecord& record, const std::string& hash);

}  // namespace tw::records
