// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "db/database_impl.h"
#include "db/row_checks.h"
#include "db/trial_codec.h"

namespace tw::db {
namespace {

constexpr const char* kTaskColumns = "task.id, key, name, target, dag_text, flops";

TaskRow row_of(SQLite::Statement& q) {
  TaskRow row;
  row.id = TaskId{q.getColumn(0).getInt64()};
  row.key = q.getColumn(1).getString();
  row.name = q.getColumn(2).getString();
  row.target = q.getColumn(3).getString();
  row.dag_text = q.getColumn(4).getString();
  row.flops = q.getColumn(5).getInt64();
  return row;
}

/// Verified times of a task and a kind, as literals for the indices. Index and order of the join are said: left to choose, SQLite walks a
/// million trials, of sessions one by one or sorted.
std::string verified_trials(const char* index, const std::string& also) {
  return fmt::format("FROM trial INDEXED BY {} CROSS JOIN session ON session.id = session_id WHERE task_id = ?1 AND session.kind = ?2 AND {} AND status = 'ok' AND verified = 1 "
                     "AND censored = 0 AND coalesce(final_s, seconds) < 9e999 AND {}",
                     index, also, whole_trial());
}

/// Asks for the counts of one task at a time, as they count in networks with constants at one place.
class CountsOf {
 public:
  CountsOf(SQLite::Database& c, records::Weights in_network)
      : in_network_(in_network),
        counts_(c, "SELECT kind, weights, trials, failures, best_s, unverified_s FROM task_count WHERE task_id = ?"),
        best_(c, best_session(comparable_trials(in_network))),
        other_best_(c, best_session("NOT " + comparable_trials(in_network))),
        // Of the session that holds the best; where that has none, of the newest that has.
        default_(c, fmt::format("SELECT coalesce(final_s, seconds) {} ORDER BY session_id = ?3 DESC, session_id DESC, trial.id DESC LIMIT 1",
                                verified_trials("trial_default", "space = 'default'"))) {}
  void fill(TaskRow& row) {
    std::array<std::array<Bests, 2>, kTimeKinds> bests;  // of comparable trials, and of those with constants elsewhere
    counts_.bind(1, row.id.value);
    while (counts_.executeStep()) {
      const auto kind = static_cast<size_t>(time_kind_from_name(counts_.getColumn(0).getText()));
      const bool comparable = records::comparable(records::weights_from_name(counts_.getColumn(1).getText()), in_network_);
      row.of_kind[kind].trials += counts_.getColumn(2).getInt64();
      row.of_kind[kind].failures += counts_.getColumn(3).getInt64();
      Bests& of = comparable ? bests[kind][0] : bests[kind][1];
      of.verified_s = std::min(of.verified_s, seconds_or_infinity(counts_.getColumn(4)));
      of.unverified_s = std::min(of.unverified_s, seconds_or_infinity(counts_.getColumn(5)));
    }
    counts_.reset();
    for (size_t k = 0; k < kTimeKinds; ++k) {
      const auto& [ours, others] = bests[k];
      for (const double seconds : {ours.verified_s, others.verified_s, ours.unverified_s, others.unverified_s})
        if (std::isinf(row.of_kind[k].best_s)) row.of_kind[k].best_s = seconds;
      const auto kind = static_cast<TimeKind>(k);
      if (row.of_kind[k].trials > 0 && kind != TimeKind::claimed) fill_times(row.id, kind, std::isfinite(ours.verified_s), row.of_kind[k]);
    }
  }

 private:
  struct Bests {
    double verified_s = std::numeric_limits<double>::infinity(), unverified_s = verified_s;
  };
  static std::string best_session(const std::string& trials) {
    return fmt::format("SELECT session_id {} ORDER BY coalesce(final_s, seconds), seconds, trial.id LIMIT 1", verified_trials("trial_by_time", trials));
  }
  void fill_times(TaskId task, TimeKind kind, bool comparable, TaskCounts& counts) {
    SQLite::Statement& best = comparable ? best_ : other_best_;
    for (SQLite::Statement* q : {&best, &default_}) {
      q->bind(1, task.value);
      q->bind(2, time_kind_name(kind));
    }
    if (best.executeStep()) counts.best_session = SessionId{best.getColumn(0).getInt64()};
    best.reset();
    default_.bind(3, counts.best_session.value);
    if (default_.executeStep()) counts.default_s = seconds_or_infinity(default_.getColumn(0));
    default_.reset();
  }

  records::Weights in_network_;
  SQLite::Statement counts_, best_, other_best_, default_;
};
static_assert(records::kDefaultSpace == "default");

Expected<TaskId> put(SQLite::Database& c, const std::string& key, const std::string& name, const std::string& target, const std::string& dag_text,
                     int64_t flops) {
  SQLite::Statement put(c, "INSERT INTO task(key, name, target, dag_text, flops) VALUES(?, ?, ?, ?, ?) ON CONFLICT(key) DO UPDATE SET dag_text = excluded.dag_text, flops = excluded.flops "
                           "WHERE excluded.dag_text <> '' AND dag_text <> excluded.dag_text");
  put.bind(1, key);
  put.bind(2, name);
  put.bind(3, target);
  put.bind(4, dag_text);
  put.bind(5, flops);
  put.exec();
  SQLite::Statement q(c, "SELECT id FROM task WHERE key = ?");
  q.bind(1, key);
  q.executeStep();
  return TaskId{q.getColumn(0).getInt64()};
}

}  // namespace

TimeKind TaskRow::kind() const {
  for (size_t k = 0; k < kTimeKinds; ++k)
    if (of_kind[k].trials > 0) return static_cast<TimeKind>(k);
  return TimeKind::measured;
}

Expected<TimeKind> Database::time_kind_of(TaskId task) {
  return impl_->read([&](SQLite::Database& c) -> Expected<TimeKind> {
    TaskRow row;
    SQLite::Statement q(c, "SELECT kind, trials FROM task_count WHERE task_id = ?");
    q.bind(1, task.value);
    while (q.executeStep()) row.of_kind[static_cast<size_t>(time_kind_from_name(q.getColumn(0).getText()))].trials += q.getColumn(1).getInt64();
    return row.kind();
  });
}

Expected<TaskId> Database::put_task(const records::Task& task) {
  const std::string dag_text = te::print(*task.dag);
  return impl_->write([&](SQLite::Database& c) { return put(c, task.key, task.name, task.target.str(), dag_text, task.flops); });
}

Expected<TaskId> Database::put_foreign_task(const std::string& key, const std::string& name, const std::string& target) {
  return impl_->write([&](SQLite::Database& c) { return put(c, key, name, target, "", 0); });
}

Expected<std::vector<ModelTaskRow>> Database::tasks_of(ModelId model) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<ModelTaskRow>> {
    SQLite::Statement q(c, std::string("SELECT ") + kTaskColumns + ", weight, weights FROM task JOIN model_task ON task_id = task.id WHERE model_id = ? ORDER BY task.id");
    q.bind(1, model.value);
    std::vector<ModelTaskRow> rows;
    while (q.executeStep()) rows.push_back({row_of(q), q.getColumn(6).getInt(), records::weights_from_name(q.getColumn(7).getText())});
    std::map<records::Weights, CountsOf> counts;
    for (ModelTaskRow& row : rows) counts.try_emplace(row.weights, c, row.weights).first->second.fill(row.task);
    return rows;
  });
}

Expected<std::vector<TaskRow>> Database::tasks() {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<TaskRow>> {
    SQLite::Statement q(c, std::string("SELECT ") + kTaskColumns + " FROM task ORDER BY id");
    std::vector<TaskRow> rows;
    while (q.executeStep()) rows.push_back(row_of(q));
    CountsOf counts(c, records::Weights::unknown);
    for (TaskRow& row : rows) counts.fill(row);
    return rows;
  });
}

Expected<std::optional<TaskRow>> Database::task_by_key(const std::string& key, records::Weights in_network) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::optional<TaskRow>> {
    SQLite::Statement q(c, std::string("SELECT ") + kTaskColumns + " FROM task WHERE key = ?");
    q.bind(1, key);
    if (!q.executeStep()) return std::optional<TaskRow>();
    TaskRow row = row_of(q);
    CountsOf(c, in_network).fill(row);
    return std::optional(std::move(row));
  });
}

}  // namespace tw::db
