// SPDX-License-Identifier: Apache-2.0
#include "db/database_impl.h"

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

/// Asks for the counts of one task at a time.
class CountsOf {
 public:
  explicit CountsOf(SQLite::Database& c) : q_(c, "SELECT kind, trials, failures, coalesce(best_s, unverified_s), default_s FROM task_count WHERE task_id = ?") {}
  void fill(TaskRow& row) {
    q_.bind(1, row.id.value);
    while (q_.executeStep())
      row.of_kind[static_cast<size_t>(time_kind_from_name(q_.getColumn(0).getText()))] = {
          q_.getColumn(1).getInt64(), q_.getColumn(2).getInt64(), seconds_or_infinity(q_.getColumn(3)), seconds_or_infinity(q_.getColumn(4))};
    q_.reset();
  }

 private:
  SQLite::Statement q_;
};

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

Expected<TaskId> Database::put_task(const records::Task& task) {
  const std::string dag_text = te::print(*task.dag);
  return impl_->write([&](SQLite::Database& c) { return put(c, task.key, task.name, task.target.str(), dag_text, task.flops); });
}

Expected<TaskId> Database::put_foreign_task(const std::string& key, const std::string& name, const std::string& target) {
  return impl_->write([&](SQLite::Database& c) { return put(c, key, name, target, "", 0); });
}

Expected<std::vector<ModelTaskRow>> Database::tasks_of(ModelId model) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<ModelTaskRow>> {
    SQLite::Statement q(c, std::string("SELECT ") + kTaskColumns + ", weight FROM task JOIN model_task ON task_id = task.id WHERE model_id = ? ORDER BY task.id");
    q.bind(1, model.value);
    std::vector<ModelTaskRow> rows;
    while (q.executeStep()) rows.push_back({row_of(q), q.getColumn(6).getInt()});
    CountsOf counts(c);
    for (ModelTaskRow& row : rows) counts.fill(row.task);
    return rows;
  });
}

Expected<std::vector<TaskRow>> Database::tasks() {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::vector<TaskRow>> {
    SQLite::Statement q(c, std::string("SELECT ") + kTaskColumns + " FROM task ORDER BY id");
    std::vector<TaskRow> rows;
    while (q.executeStep()) rows.push_back(row_of(q));
    CountsOf counts(c);
    for (TaskRow& row : rows) counts.fill(row);
    return rows;
  });
}

Expected<std::optional<TaskRow>> Database::task_by_key(const std::string& key) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::optional<TaskRow>> {
    SQLite::Statement q(c, std::string("SELECT ") + kTaskColumns + " FROM task WHERE key = ?");
    q.bind(1, key);
    if (!q.executeStep()) return std::optional<TaskRow>();
    TaskRow row = row_of(q);
    CountsOf(c).fill(row);
    return std::optional(std::move(row));
  });
}

}  // namespace tw::db
