// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engine/api/claims.h"
#include "engine/records/autotvm_log.h"
#include "engine/records/history.h"

/// Logs of trials against the tasks at hand.
namespace tw::api {

/// A log's trials of one task, each point once.
struct TaskTrials {
  records::Task task;
  std::vector<records::Record> records;
};

/// What a log says of the tasks at hand, and which of its lines are of no use.
struct LogTrials {
  std::vector<TaskTrials> tasks;               ///< those with trials, in the order in which they first appear
  std::vector<records::LineProblem> problems;  ///< those of the log, and "unknown_task", "unknown_space", "not_in_space", "invalid_point",
                                               ///< "other_steps" and "duplicate"
};

/// A line as a trial of `task`, which is a claim: its steps as they stand, or those of the template that the line names at the line's point. Errors:
/// unsupported if there is no such template here; invalid_argument if the point is not in its space; corrupt if its steps are not the point's; what a filter or
/// the template says of the point.
Expected<records::Record> as_trial(const records::Task& task, const records::AutotvmRecord& line, ClaimChecker& claims);

/// The trials of a log that belong to `known` tasks, or to tasks that its lines describe themselves. A line of another program counts for each task known by
/// then with its computation; where none is, it counts for the task that follows from its arguments on `target`, if that is given (logged_task.h).
/// Of two trials of a point the faster one stays. `name` is what the records' origins call the log.
LogTrials match_log(const records::AutotvmLog& log, std::span<const records::Task> known, const std::string& name, const Target* target = nullptr);

/// Logs as the source of records for compiling: what `tw compile --log` reads.
class LogRecords : public records::RecordSource {
 public:
  struct NamedLog {
    std::string name;
    records::AutotvmLog log;
  };
  /// For each of `tasks`: the best of the lines that were measured for it, as in a database; else what AutoTVM would apply, the fastest of its templates'.
  /// With `nearest`, tasks without either get the nearest point of the lines with their template (see space::nearest_point).
  LogRecords(std::span<const records::Task> tasks, const std::vector<NamedLog>& logs, bool nearest);

  Expected<std::optional<records::Record>> best(const std::string& task_key, records::Weights in_network) override;
  /// Lines that would have been applied but mean no valid point here, one sentence each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::optional<records::Record> applied(const records::Task& task, const records::HistoryBest& history);

  std::vector<records::Record> measured_;           ///< of the tasks, in the order of the lines
  std::map<std::string, records::Record> applied_;  ///< by task key, where none was measured
  std::vector<std::string> problems_;
};

/// Asks the sources one after the other. They outlive the result.
std::unique_ptr<records::RecordSource> first_of(std::vector<records::RecordSource*> sources);

}  // namespace tw::api
