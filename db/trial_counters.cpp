// SPDX-License-Identifier: Apache-2.0
#include "db/trial_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/database_impl.h"
#include "db/row_checks.h"
#include "db/trial_codec.h"

namespace tw::db {
namespace {

void bind_counted_time(SQLite::Statement& put, int i, double seconds) {
  if (std::isfinite(seconds)) {
    put.bind(i, seconds);
  } else {
    put.bind(i);
  }
}

/// Columns from `first` on: trials, failures, best_s, unverified_s.
TaskCounters counters_of(SQLite::Statement& q, int first) {
  return {q.getColumn(first).getInt64(), q.getColumn(first + 1).getInt64(), seconds_or_infinity(q.getColumn(first + 2)),
          seconds_or_infinity(q.getColumn(first + 3))};
}

void set_counters(SQLite::Database& connection, const CountedTask& task, const TaskCounters& counters) {
  SQLite::Statement put(connection,
                        "INSERT INTO task_count(task_id, kind, weights, trials, failures, best_s, unverified_s) VALUES(?, ?, ?, ?, ?, ?, ?) "
                        "ON CONFLICT DO UPDATE SET trials = excluded.trials, failures = excluded.failures, best_s = excluded.best_s, "
                        "unverified_s = excluded.unverified_s");
  put.bind(1, task.task);
  put.bind(2, task.kind);
  put.bind(3, task.weights);
  put.bind(4, counters.trials);
  put.bind(5, counters.failures);
  bind_counted_time(put, 6, counters.best_s);
  bind_counted_time(put, 7, counters.unverified_s);
  put.exec();
}

/// Rows of task_id, kind, weights and the counters.
std::map<CountedTask, TaskCounters> counted(SQLite::Statement& q) {
  std::map<CountedTask, TaskCounters> counters;
  while (q.executeStep()) counters[{q.getColumn(0).getInt64(), q.getColumn(1).getString(), q.getColumn(2).getString()}] = counters_of(q, 3);
  return counters;
}

}  // namespace

void TaskCounters::add(const records::Record& record, bool claimed) {
  ++trials;
  if (!record.result.ok()) ++failures;
  if (record.result.censored) return;
  const bool verified = record.result.verified && !claimed;
  double& best = verified ? best_s : unverified_s;
  best = std::min(best, verified ? record.result.decided_s() : record.result.seconds());
}

void add_counters(SQLite::Database& connection, SessionId session, TaskId task, const std::map<records::Weights, TaskCounters>& batch) {
  SQLite::Statement t(
      connection,
      "INSERT INTO task_count(trials, failures, best_s, unverified_s, task_id, kind, weights) SELECT ?1, ?2, ?3, ?4, ?5, kind, ?7 FROM session WHERE id = ?6 "
      "ON CONFLICT DO UPDATE SET trials = trials + ?1, failures = failures + ?2, best_s = coalesce(min(best_s, ?3), best_s, ?3), "
      "unverified_s = coalesce(min(unverified_s, ?4), unverified_s, ?4)");
  int64_t trials = 0;
  for (const auto& [weights, counters] : batch) {
    t.bind(1, counters.trials);
    t.bind(2, counters.failures);
    bind_counted_time(t, 3, counters.best_s);
    bind_counted_time(t, 4, counters.unverified_s);
    t.bind(5, task.value);
    t.bind(6, session.value);
    t.bind(7, records::weights_name(weights));
    t.exec();
    t.reset();
    trials += counters.trials;
  }
  SQLite::Statement s(connection, "UPDATE session SET trials = trials + ?, state = 'running', ended_s = 0 WHERE id = ?");
  s.bind(1, trials);
  s.bind(2, session.value);
  s.exec();
}

std::map<CountedTask, TaskCounters> count_trials(SQLite::Database& connection, std::optional<TaskId> task) {
  const std::string timed = "status = 'ok' AND censored = 0", own = "verified = 1 AND kind <> 'claimed'";
  SQLite::Statement q(connection,
                      fmt::format("SELECT task_id, kind, coalesce({4}, ''), count(*), sum(status <> 'ok'), "
                                  "min(CASE WHEN {0} AND {1} AND coalesce(final_s, seconds) < 9e999 THEN coalesce(final_s, seconds) END), "
                                  "min(CASE WHEN {0} AND NOT ({1}) THEN seconds END) "
                                  "FROM trial JOIN session ON session.id = session_id WHERE {2} AND {3} GROUP BY task_id, kind, coalesce({4}, '')",
                                  timed, own, task ? fmt::format("task_id = {}", task->value) : "1", whole_trial(), kWeightsColumn));
  return counted(q);
}

std::map<CountedTask, TaskCounters> stored_counters(SQLite::Database& connection) {
  SQLite::Statement q(connection, "SELECT task_id, kind, weights, trials, failures, best_s, unverified_s FROM task_count");
  return counted(q);
}

std::map<int64_t, int64_t> miscounted_sessions(SQLite::Database& connection) {
  SQLite::Statement q(connection, fmt::format("SELECT session.id, counted FROM session LEFT JOIN (SELECT session_id, count(*) AS counted FROM trial WHERE {} "
                                              "GROUP BY session_id) ON session_id = session.id WHERE coalesce(counted, 0) <> trials",
                                              whole_trial()));
  std::map<int64_t, int64_t> counts;
  while (q.executeStep()) counts[q.getColumn(0).getInt64()] = q.getColumn(1).getInt64();
  return counts;
}

void recount(SQLite::Database& connection, std::optional<TaskId> task) {
  const auto counters = count_trials(connection, task);
  const auto stored = stored_counters(connection);
  for (const auto& [of, right] : counters)
    if (const auto at = stored.find(of); at == stored.end() || at->second != right) set_counters(connection, of, right);
  for (const auto& [of, kept] : stored)
    if ((!task || of.task == task->value) && !counters.contains(of) && kept != TaskCounters()) set_counters(connection, of, {});
  if (task) return;
  for (const auto& [id, trials] : miscounted_sessions(connection)) {
    SQLite::Statement put(connection, "UPDATE session SET trials = ? WHERE id = ?");
    put.bind(1, trials);
    put.bind(2, id);
    put.exec();
  }
}

void remove_trial(SQLite::Database& connection, int64_t id) {
  for (const char* rows : {"network_verdict WHERE trial_id", "sample WHERE trial_id", "trial WHERE id"})
    connection.exec(fmt::format("DELETE FROM {} = {}", rows, id));
}

}  // namespace tw::db
