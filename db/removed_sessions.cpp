// SPDX-License-Identifier: Apache-2.0
// Sessions that are taken out and can be brought back until the file is closed: their rows lie in temporary tables of the connection that writes.
#include <fmt/format.h>

#include <algorithm>

#include "db/database_impl.h"
#include "db/trial_counters.h"

namespace tw::db {
namespace {

/// What goes with a session, children before what they refer to; `{0}` stands for its number.
struct SessionPart {
  const char* table;
  const char* rows;
};
constexpr SessionPart kSessionParts[] = {
    {"network_verdict", "trial_id IN (SELECT id FROM main.trial WHERE session_id = {0}) OR final_id IN (SELECT id FROM main.network_final WHERE session_id = {0})"},
    {"sample", "trial_id IN (SELECT id FROM main.trial WHERE session_id = {0})"},
    {"trial", "session_id = {0}"},
    {"round", "session_id = {0}"},
    {"event", "session_id = {0}"},
    {"network_final", "session_id = {0}"},
    {"mark", "noun = 'session:{0}' OR noun LIKE 'trial:{0}/%'"},  // its number may be another session's once the file was closed
    {"session", "id = {0}"},
};
/// Tables whose rows others know by their numbers, which nothing else may get meanwhile.
constexpr const char* kNumbered[] = {"session", "trial", "network_final"};

std::string kept_name(int64_t session, const char* table) { return fmt::format("temp.removed_{}_{}", session, table); }

std::vector<TaskId> tasks_tried(SQLite::Database& c, int64_t session) {
  SQLite::Statement q(c, "SELECT DISTINCT task_id FROM trial WHERE session_id = ?");
  q.bind(1, session);
  std::vector<TaskId> tasks;
  while (q.executeStep()) tasks.push_back(TaskId{q.getColumn(0).getInt64()});
  return tasks;
}

}  // namespace

int64_t Database::Impl::fresh_id(const char* table) {
  const int64_t last = connection->execAndGet(fmt::format("SELECT coalesce(max(id), 0) FROM {}", table)).getInt64();
  const auto removed = removed_up_to.find(table);
  return 1 + (removed == removed_up_to.end() ? last : std::max(last, removed->second));
}

Expected<void> Database::remove_session(SessionId session) {
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    SQLite::Statement q(c, "SELECT state FROM session WHERE id = ?");
    q.bind(1, session.value);
    if (!q.executeStep()) return Error(ErrorCode::not_found, fmt::format("Expected a session, found none with number {}", session.value));
    if (q.getColumn(0).getString() == "running") return Error(ErrorCode::invalid_argument, fmt::format("Session {} is running", session.value));
    q.reset();
    const std::vector<TaskId> tasks = tasks_tried(c, session.value);
    for (const char* table : kNumbered) impl_->removed_up_to[table] = impl_->fresh_id(table) - 1;
    for (const SessionPart& part : kSessionParts) {
      const std::string rows = fmt::format(fmt::runtime(part.rows), session.value);
      c.exec(fmt::format("CREATE TABLE {} AS SELECT * FROM main.{} WHERE {}", kept_name(session.value, part.table), part.table, rows));
    }
    for (const SessionPart& part : kSessionParts)
      c.exec(fmt::format("DELETE FROM main.{} WHERE {}", part.table, fmt::format(fmt::runtime(part.rows), session.value)));
    for (const TaskId task : tasks) recount(c, task);
    return {};
  });
}

Expected<void> Database::restore_session(SessionId session) {
  return impl_->write([&](SQLite::Database& c) -> Expected<void> {
    SQLite::Statement q(c, "SELECT count(*) FROM temp.sqlite_master WHERE name = ?");
    q.bind(1, fmt::format("removed_{}_session", session.value));
    q.executeStep();
    if (q.getColumn(0).getInt() == 0) return Error(ErrorCode::not_found, fmt::format("Expected a session that was removed, found none with number {}", session.value));
    q.reset();
    for (auto part = std::rbegin(kSessionParts); part != std::rend(kSessionParts); ++part)
      c.exec(fmt::format("INSERT INTO main.{0} {1} FROM {2}", part->table, part->table == std::string_view("event") ? "SELECT NULL, session_id, at_s, kind, text" : "SELECT *",
                         kept_name(session.value, part->table)));
    for (const SessionPart& part : kSessionParts) c.exec(fmt::format("DROP TABLE {}", kept_name(session.value, part.table)));
    for (const TaskId task : tasks_tried(c, session.value)) recount(c, task);
    return {};
  });
}

}  // namespace tw::db
