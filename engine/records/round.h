// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

namespace tw::records {

/// One round of a session: a task scheduler chose a task, and some of its candidates were measured. Rounds are numbered from 1; the first ones measure the
/// default schedules. A task's trials lie in the order of its rounds, so that a round's trials are found by counting.
struct Round {
  int64_t number = 0;
  std::string task_key;
  int64_t planned = 0;  ///< trials that were asked for
  int64_t trials = 0;   ///< that were stored so far; fewer than planned if the round was cut off or the space ended
  /// Why this task: a JSON object with `why` in words and the scheduler's terms, see tune/scheduler.h; `search` in it is what the strategy says of its own work.
  std::string decision;
  // As they stood at the end of the round, in seconds. Infinity: not known.
  double best_s = std::numeric_limits<double>::infinity();     ///< least verified time of the task
  double network_s = std::numeric_limits<double>::infinity();  ///< sum of weight x best over the session's tasks, once each has one
  int64_t session_trials = 0;                                  ///< over all tasks
  // Wall time in seconds: of this round, pauses not counted; and of the session up to its end.
  double search_s = 0, build_s = 0, measure_s = 0, total_s = 0;
  double elapsed_s = 0, measured_s = 0;  ///< of the session: work, and of that measuring
};

}  // namespace tw::records
