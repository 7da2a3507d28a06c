// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <limits>
#include <map>
#include <optional>

#include "db/database.h"

/// What a task's row and a session's row keep of their trials, so that lists need not read them: with every batch, and anew from the trials themselves.
namespace tw::db {

struct TaskCounters {
  int64_t trials = 0, failures = 0;
  /// Times in seconds, infinite where there is none: of the fastest verified trial, after finals; of the fastest other.
  double best_s = std::numeric_limits<double>::infinity(), unverified_s = best_s;

  /// `claimed`: the trial is of a log.
  void add(const records::Record& record, bool claimed);
  bool operator==(const TaskCounters&) const = default;
};

/// Which trials are counted together: those of a task, of a kind of times (time_kind_name) and with constants at one place (records::weights_name).
struct CountedTask {
  int64_t task = 0;
  std::string kind, weights;
  auto operator<=>(const CountedTask&) const = default;
};

/// Adds what a batch brought to a task, by where the constants were, and to a session, which counts as running again.
void add_counters(SQLite::Database& connection, SessionId session, TaskId task, const std::map<records::Weights, TaskCounters>& batch);

/// Of the whole trials of each task, or of one; none where there are none.
std::map<CountedTask, TaskCounters> count_trials(SQLite::Database& connection, std::optional<TaskId> task);
/// As the rows say that are kept of them.
std::map<CountedTask, TaskCounters> stored_counters(SQLite::Database& connection);
/// How many whole trials each session has that does not say so itself.
std::map<int64_t, int64_t> miscounted_sessions(SQLite::Database& connection);

/// Makes the rows of a task, or of all tasks and sessions, say what their whole trials say.
void recount(SQLite::Database& connection, std::optional<TaskId> task);

/// Removes a trial with what belongs to it.
void remove_trial(SQLite::Database& connection, int64_t id);

}  // namespace tw::db
