// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/param_schema.h"

namespace tw::tune {

/// What a scheduler sees of a task.
struct TaskView {
  double weight = 1;      ///< how often the network runs it
  int64_t flops = 0;      ///< of one run
  std::string tag;        ///< tasks of one tag are alike (similarity.h); empty: it is like no other
  int64_t trials = 0;     ///< so far, the default schedule's included
  int64_t capacity = 0;   ///< trials that it can use at most
  bool exhausted = false; ///< it has no candidate left, or enough trials without a better one
  double spent_s = 0;     ///< wall time of its rounds
  /// Its best time after each of its rounds, in seconds, infinity where none was known; the first round measures the default schedule.
  std::vector<double> history;

  double best_s() const { return history.empty() ? std::numeric_limits<double>::infinity() : history.back(); }
};

/// The limits of a session that concern whom its trials go to.
struct SessionLimits {
  int64_t trials = 0;           ///< over all tasks; 0: no such limit
  int64_t trials_per_task = 0;  ///< 0: no such limit
  double time_s = 0;            ///< wall time; 0: no such limit
  int batch = 16;               ///< candidates of a round, at most
};

struct SessionView {
  SessionLimits limits;
  std::vector<TaskView> tasks;  ///< never empty; each has had its first round, unless the trials were too few for that
  int64_t round = 0;            ///< number of the round that is to be decided
  uint64_t seed = 0;

  int64_t trials() const;
  int64_t trials_left() const;            ///< of the session
  int64_t trials_left(size_t task) const;  ///< for a task: within its capacity and the session's limits; 0 if it is exhausted
  double network_s() const;               ///< sum of weight x best, infinity while a task has none
};

/// Which task the next round goes to.
struct Decision {
  int task = -1;       ///< -1: the session has nothing left to do
  int64_t trials = 0;  ///< asked for
  int64_t budget = 0;  ///< trials that the task is to have in all, as things stand; 0: that is open
  std::string why;     ///< one sentence
  Json terms;          ///< an object: the scheduler's numbers behind it, by name; null if it has none
};

/// Gives rounds to tasks. A pure function of what has been measured, so that a resumed session decides as the same session would have without a break.
class TaskScheduler {
 public:
  virtual ~TaskScheduler() = default;
  virtual Decision next(const SessionView& session) const = 0;
  /// Whether it will never choose the task again, whatever the others bring: its finals need not wait.
  virtual bool is_done_with(size_t task, const SessionView& session) const {
    static_cast<void>(task), static_cast<void>(session);
    return false;
  }
};

/// One row of the table.
struct SchedulerDef {
  const char* name;  ///< as on the command line
  ParamSchema params;
  std::unique_ptr<TaskScheduler> (*make)(const Json& params);  ///< resolved ones
  const char* summary;                                         ///< one paragraph
  const char* source;                                          ///< paper
};
const std::vector<SchedulerDef>& schedulers();
const SchedulerDef* find_scheduler(std::string_view name);

}  // namespace tw::tune
