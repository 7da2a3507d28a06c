// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>

#include "db/connection.h"
#include "db/maintenance.h"
#include "db/migrate.h"
#include "db/session_workspace.h"
#include "db/sqlite_error.h"
#include "db/trial_counters.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace tw::db {
namespace {

constexpr int kStructureProblems = 100;  ///< that are named
constexpr int64_t kPage = 1000;          ///< trials read at once

const Error kStopped(ErrorCode::cancelled, "The check was cancelled");

Problem of_structure(std::string reason) { return {{}, "the file", std::move(reason)}; }

/// What SQLite says of pages, indices and references.
Expected<void> check_structure(SQLite::Database& connection, CheckReport& report) {
  SQLite::Statement whole(connection, fmt::format("PRAGMA integrity_check({})", kStructureProblems));
  while (whole.executeStep())
    if (const std::string found = whole.getColumn(0).getString(); found != "ok") report.problems.push_back(of_structure(found));
  SQLite::Statement references(connection, "PRAGMA foreign_key_check");
  while (references.executeStep()) {
    const SQLite::Column row = references.getColumn(1);
    report.problems.push_back({{},
                               fmt::format("{} {}", references.getColumn(0).getString(), row.isNull() ? "without a number" : row.getString()),
                               fmt::format("It belongs to a {} that is not there", references.getColumn(2).getString())});
  }
  return {};
}

/// Reads all there is as everybody does; what is left out notes itself.
Expected<void> read_all(Database& db, SQLite::Database& raw, CheckReport& report, const StopToken& stop) {
  TW_TRY(const auto models, db.models());
  TW_TRY(const auto sessions, db.sessions());
  TW_TRY(const auto tasks, db.tasks());
  TW_TRY(const auto marks, db.marks());
  for (const TaskRow& row : tasks)
    if (row.dag_text.empty() || readable_task(db, row)) ++report.tasks;
  report.sessions = static_cast<int64_t>(sessions.size());
  for (TrialId after;;) {
    if (stop.stop_requested()) return kStopped;
    TW_TRY(const auto trials, db.trials(std::nullopt, std::nullopt, after, kPage, true));
    if (trials.empty()) break;
    report.trials += static_cast<int64_t>(trials.size());
    after = trials.back().id;
  }
  return {};
}

std::string where_is(SQLite::Database& raw, const DamagedRow& row) {
  if (!row.key.empty()) return fmt::format("{} {}", row.table, printable(row.key));
  if (row.table != "trial" && row.table != "sample") return fmt::format("{} {}", row.table, row.id);
  SQLite::Statement q(raw, "SELECT session_id, number, (SELECT name FROM task WHERE task.id = task_id) FROM trial WHERE id = ?");
  q.bind(1, row.id);
  const std::string what = row.table == "trial" ? "trial" : "the samples of trial";
  if (!q.executeStep()) return fmt::format("{} {}", what, row.id);
  return fmt::format("{} {} (trial {} of session {}, task {})", what, row.id, q.getColumn(1).getInt64(), q.getColumn(0).getInt64(),
                     q.getColumn(2).isNull() ? "unknown" : printable(q.getColumn(2).getString()));
}

std::string reason_of(const DamagedRow& row) {
  return row.table == "trial" || row.table == "sample" ? "It does not match its checksum" : "Its text means nothing";
}

std::string counters_text(const TaskCounters& c) {
  const auto time = [](double seconds) { return std::isfinite(seconds) ? si_text(seconds, "s") : std::string("none"); };
  return fmt::format("{} trials, {} failures, best {}, {} of logs", c.trials, c.failures, time(c.best_s), time(c.unverified_s));
}

Expected<void> check_counters(SQLite::Database& raw, CheckReport& report) {
  const auto counted = count_trials(raw, std::nullopt);
  auto stored = stored_counters(raw);
  for (const auto& [of, right] : counted) stored.try_emplace(of);
  for (const auto& [of, kept] : stored) {
    const auto at = counted.find(of);
    const TaskCounters right = at == counted.end() ? TaskCounters() : at->second;
    if (kept != right)
      report.problems.push_back({{"task", of.task},
                                 fmt::format("task {}", of.task),
                                 fmt::format("Its row of {} trials{} says {}; they say {}", of.kind, of.weights.empty() ? "" : " with " + of.weights + " constants", counters_text(kept), counters_text(right))});
  }
  for (const auto& [session, trials] : miscounted_sessions(raw))
    report.problems.push_back(
        {{"session", session}, fmt::format("session {}", session), fmt::format("Its row has another number of trials than the {} there are", trials)});
  return {};
}

}  // namespace

Expected<CheckReport> check_workspace(const std::string& given, const StopToken& stop) {
  TW_TRY(const std::string path, resolve_links(given));
  TW_CHECK(check_file(path, Mode::read_only));
  CheckReport report;
  Damage damage;
  const auto damaged = [&](const Error& error) -> Expected<CheckReport> {
    if (error.code != ErrorCode::corrupt) return error;
    report.problems.push_back(of_structure(error.text()));
    return report;
  };
  auto raw = open_reader(path, damage);
  if (!raw) return damaged(raw.error());
  auto db = Database::open(path, Mode::read_only);
  if (!db) return damaged(db.error());
  if (auto checked = guarded(path, [&] { return check_structure(**raw, report); }); !checked) return damaged(checked.error());
  const size_t structure = report.problems.size();
  if (auto read = guarded(path, [&] { return read_all(**db, **raw, report, stop); }); !read) return damaged(read.error());
  auto named = guarded(path, [&]() -> Expected<void> {
    for (const DamagedRow& row : (*db)->damaged()) report.problems.push_back({row, where_is(**raw, row), reason_of(row)});
    return structure == 0 ? check_counters(**raw, report) : Expected<void>();
  });
  if (!named) return damaged(named.error());
  return report;
}

}  // namespace tw::db
