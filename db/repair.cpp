// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "db/backup.h"
#include "db/connection.h"
#include "db/lock_file.h"
#include "db/maintenance.h"
#include "db/merge.h"
#include "db/sqlite_error.h"
#include "db/trial_counters.h"
#include "engine/base/file.h"
#include "engine/base/file_in_use.h"
#include "engine/base/text.h"

namespace tw::db {
namespace {

namespace fs = std::filesystem;

/// The file and its log as they are, byte for byte. Before anything is connected: closing a descriptor of the file drops SQLite's locks on it.
Expected<std::string> keep_as_it_was(const std::string& path) {
  const std::string kept = fmt::format("{}.damaged-{}", path, time_stamp());
  std::error_code error;
  fs::copy_file(path, kept, fs::copy_options::overwrite_existing, error);
  if (!error && bytes_of(path + "-wal") > 0) fs::copy_file(path + "-wal", kept + "-wal", fs::copy_options::overwrite_existing, error);
  if (!error) return kept;
  return Error(error == std::errc::no_space_on_device ? ErrorCode::no_space : ErrorCode::io_error,
               fmt::format("The damaged workspace cannot be kept as '{}': {}", printable(kept), error.message()));
}

/// A file that ends before its header says is not opened at all: the pages that it lacks become empty ones.
Expected<void> fill_up(const std::string& path) {
  unsigned char head[32] = {};
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(head), sizeof head)) return {};
  stream.close();
  const auto number = [&](size_t at, size_t bytes) {  // big endian. Source: SQLite's file format, offsets 16 and 28
    int64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value = value << 8 | head[at + i];
    return value;
  };
  const int64_t page = number(16, 2) == 1 ? 65536 : number(16, 2), pages = number(28, 4);
  constexpr int64_t kMostPages = int64_t{1} << 24;  // a header that lies is not followed anywhere
  if (pages > kMostPages || bytes_of(path) >= page * pages) return {};
  std::error_code error;
  fs::resize_file(path, static_cast<uintmax_t>(page * pages), error);
  if (error) return Error(ErrorCode::io_error, fmt::format("The damaged workspace '{}' cannot be worked on: {}", printable(path), error.message()));
  return {};
}

bool is_sound(SQLite::Database& connection) { return connection.execAndGet("PRAGMA integrity_check(1)").getString() == "ok"; }

/// Takes a damaged row out, or the text in it that means nothing. False: there is nothing to be taken out.
bool remove_row(SQLite::Database& c, const DamagedRow& row) {
  const auto run = [&](const char* sql) {
    SQLite::Statement s(c, sql);
    if (row.key.empty())
      s.bind(1, row.id);
    else
      s.bind(1, row.key);
    return s.exec() > 0;
  };
  if (row.table == "trial" || row.table == "sample") {
    remove_trial(c, row.id);
    return true;
  }
  if (row.table == "session") {
    return run(
        "UPDATE session SET options_json = iif(json_valid(options_json), options_json, '{}'), host_json = iif(json_valid(host_json), host_json, '{}') "
        "WHERE id = ? AND NOT (json_valid(options_json) AND json_valid(host_json))");
  }
  if (row.table == "model") return run("UPDATE model SET summary_json = '{}' WHERE id = ?");
  if (row.table == "mark") return run("DELETE FROM mark WHERE noun = ?");
  return false;
}

/// Rows whose parents are gone.
void remove_orphans(SQLite::Database& c) {
  const std::string lost = "(SELECT id FROM trial WHERE session_id NOT IN (SELECT id FROM session) OR task_id NOT IN (SELECT id FROM task))";
  for (const std::string& orphans :
       {"network_verdict WHERE trial_id IN " + lost, "sample WHERE trial_id IN " + lost, "trial WHERE id IN " + lost,
        std::string("network_verdict WHERE trial_id NOT IN (SELECT id FROM trial) OR final_id NOT IN (SELECT id FROM network_final)"),
        std::string("sample WHERE trial_id NOT IN (SELECT id FROM trial)"), std::string("event WHERE session_id NOT IN (SELECT id FROM session)"),
        std::string("task_count WHERE task_id NOT IN (SELECT id FROM task)"),
        std::string("round WHERE session_id NOT IN (SELECT id FROM session) OR task_id NOT IN (SELECT id FROM task)")})
    c.exec(fmt::format("DELETE FROM {}", orphans));
}

/// Tasks among the problems whose computation cannot be read; a target that this program does not know is none of its business.
std::set<int64_t> damaged_dags(SQLite::Database& c, const std::vector<Problem>& problems) {
  std::set<int64_t> found;
  for (const Problem& p : problems) {
    if (p.row.table != "task") continue;
    SQLite::Statement q(c, "SELECT dag_text FROM task WHERE id = ?");
    q.bind(1, p.row.id);
    if (q.executeStep() && !q.getColumn(0).getString().empty() && !te::parse_dag(q.getColumn(0).getString())) found.insert(p.row.id);
  }
  return found;
}

/// The first rung: indices anew, damaged rows out. False: the structure stays damaged.
Expected<bool> mend_in_place(SQLite::Database& c, RepairReport& report) {
  if (!is_sound(c)) {
    try {
      c.exec("REINDEX");
    } catch (const SQLite::Exception&) {
      return false;
    }
    if (!is_sound(c)) return false;
    report.steps.emplace_back("Indices were built anew");
  }
  SQLite::Transaction transaction(c, SQLite::TransactionBehavior::IMMEDIATE);
  for (const Problem& p : report.before.problems) report.removed += remove_row(c, p.row) ? 1 : 0;
  for (const int64_t id : damaged_dags(c, report.before.problems)) {  // the task stays, as one of another program
    c.exec(fmt::format("UPDATE task SET dag_text = '' WHERE id = {}", id));
    ++report.removed;
  }
  remove_orphans(c);
  recount(c, std::nullopt);
  transaction.commit();
  if (report.removed > 0) report.steps.push_back(fmt::format("{} damaged rows were removed", report.removed));
  return true;
}

/// The second rung: what can still be read, in a new file. Nothing, where not even the tables are found, is no error.
Expected<void> salvage(const std::string& path, SQLite::Database& fresh, RepairReport& report) {
  const auto merged = merge_file(path, fresh, path + ".repair");
  if (!merged && merged.error().code != ErrorCode::corrupt && merged.error().code != ErrorCode::parse_error) return merged.error();
  if (merged) {
    report.removed += merged->damaged;
    report.steps.push_back(
        fmt::format("The structure is damaged: {} trials of {} sessions that can be read went to a new file", merged->trials, merged->sessions));
  } else {
    report.steps.push_back(fmt::format("Nothing of it can be read: {}", merged.error().message));
  }
  return {};
}

/// The third rung: what backups have and the file has not.
Expected<void> restore(SQLite::Database& to, const std::string& path, const std::vector<std::string>& backups, RepairReport& report) {
  for (const std::string& backup : backups) {
    const auto merged = merge_file(backup, to, path);
    if (!merged) {
      report.steps.push_back(fmt::format("The backup '{}' gave nothing: {}", printable(backup), merged.error().text()));
      continue;
    }
    report.restored += merged->trials;
    report.steps.push_back(fmt::format("{} trials came from the backup '{}', which has {} that are there", merged->trials, printable(backup), merged->there));
  }
  return {};
}

void remove_with_log(const std::string& path) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(path + end, ignored);
}

/// Puts a new file in the place of a damaged one, whose log must not be applied to it.
Expected<void> replace(const std::string& path, const std::string& fresh) {
  std::error_code error;
  fs::remove(path + "-wal", error);  // it is kept beside the copy of the file
  if (!error) fs::remove(path + "-shm", error);
  if (!error) fs::rename(fresh, path, error);
  if (error)
    return Error(ErrorCode::io_error,
                 fmt::format("The mended workspace '{}' cannot take the place of '{}': {}", printable(fresh), printable(path), error.message()));
  return {};
}

Expected<CheckReport> check_any_format(const std::string& path, const StopToken& stop) {
  auto report = check_workspace(path, stop);
  if (report || report.error().code != ErrorCode::version) return report;
  Damage damage;
  auto brought_up = open_writer(path, false, damage);
  if (!brought_up && brought_up.error().code == ErrorCode::version) return brought_up.error();
  if (brought_up) {
    brought_up->reset();
    return check_workspace(path, stop);
  }
  CheckReport damaged;
  damaged.problems.push_back({{}, "the file", brought_up.error().text()});
  return damaged;
}

}  // namespace

Expected<RepairReport> repair_workspace(const std::string& given, const std::vector<std::string>& given_backups, const StopToken& stop) {
  TW_TRY(const std::string path, resolve_links(given));
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return Error(ErrorCode::not_found, fmt::format("Expected a workspace '{}', found no such file", printable(path)));
  std::vector<std::string> backups = given_backups;
  if (auto newest = backups_of(path); backups.empty() && !newest.empty()) backups = {newest.front()};
  // What is no database is somebody's letter, unless there is a backup of it.
  const auto is_database = check_file(path, Mode::read_write);
  if (!is_database && (is_database.error().code != ErrorCode::parse_error || backups.empty())) return is_database.error();
  TW_TRY(const auto lock, LockFile::acquire(path));
  const FileInUse in_use(path, FileUse::database);
  RepairReport report;
  if (is_database) {
    TW_TRY(report.before, check_any_format(path, stop));
  } else {
    report.before.problems.push_back({{}, "the file", is_database.error().text()});
  }
  if (report.before.sound()) {
    if (!given_backups.empty()) {
      Damage damage;
      TW_TRY(const auto connection, open_writer(path, false, damage));
      TW_CHECK(restore(*connection, path, backups, report));
    }
    TW_TRY(report.after, check_workspace(path, stop));
    return report;
  }
  TW_TRY(report.kept, keep_as_it_was(path));
  TW_CHECK(fill_up(path));
  Damage damage;
  auto connection = open_writer(path, false, damage);
  Expected<bool> mended = false;
  if (connection) mended = guarded(path, [&] { return mend_in_place(**connection, report); });
  if (!mended && mended.error().code != ErrorCode::corrupt) return mended.error();
  if (mended && *mended) {
    TW_CHECK(restore(**connection, path, backups, report));
    connection->reset();
  } else {
    if (connection) connection->reset();
    report.removed = 0;
    const std::string fresh = path + ".repair";
    remove_with_log(fresh);
    {
      TW_TRY(const auto to, open_writer(fresh, false, damage));
      TW_CHECK(salvage(path, *to, report));
      TW_CHECK(restore(*to, path, backups, report));
    }
    TW_CHECK(replace(path, fresh));
  }
  TW_TRY(report.after, check_workspace(path, stop));
  return report;
}

}  // namespace tw::db
