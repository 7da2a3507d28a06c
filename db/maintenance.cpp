// SPDX-License-Identifier: Apache-2.0
#include "db/maintenance.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <optional>

#include "db/backup.h"
#include "db/connection.h"
#include "db/lock_file.h"
#include "db/merge.h"
#include "db/migrate.h"
#include "db/sqlite_error.h"
#include "engine/base/file.h"
#include "engine/base/file_in_use.h"
#include "engine/base/text.h"

namespace tw::db {
namespace {

namespace fs = std::filesystem;

/// A workspace of another file to merge from: of the newest format, else a copy that is brought up to date.
struct Source {
  Damage damage;
  std::string copy;  ///< empty: the file itself is read
  std::unique_ptr<SQLite::Database> connection;
  ~Source() {
    connection.reset();
    std::error_code ignored;
    if (!copy.empty())
      for (const char* end : {"", "-wal", "-shm"}) fs::remove(copy + end, ignored);
  }

  static Expected<std::unique_ptr<Source>> open(const std::string& path, const std::string& beside) {
    auto source = std::make_unique<Source>();
    TW_CHECK(check_file(path, Mode::read_only));
    TW_TRY(source->connection, open_reader(path, source->damage));
    const int newest = embedded_migrations().back().number;
    TW_TRY(const int version, check_version(*source->connection, path, newest));
    if (version == newest) return source;
    source->copy = beside + ".merge";
    TW_CHECK(copy_database(*source->connection, source->copy));
    source->connection.reset();
    TW_TRY(source->connection, open_writer(source->copy, false, source->damage));
    return source;
  }
};

/// A workspace that is changed as a whole by its one writer.
struct Writer {
  std::unique_ptr<LockFile> lock;
  std::optional<FileInUse> in_use;
  Damage damage;
  std::unique_ptr<SQLite::Database> connection;

  static Expected<std::unique_ptr<Writer>> open(const std::string& given, std::string& path) {
    TW_TRY(path, resolve_links(given));
    auto writer = std::make_unique<Writer>();
    if (std::error_code ignored; !fs::exists(path, ignored))
      return Error(ErrorCode::not_found, fmt::format("Expected a workspace '{}', found no such file", printable(path)));
    TW_CHECK(check_file(path, Mode::read_write));
    TW_TRY(writer->lock, LockFile::acquire(path));
    writer->in_use.emplace(path, FileUse::database);
    TW_TRY(writer->connection, open_writer(path, !writer->lock->last_end_was_clean(), writer->damage));
    return writer;
  }
};

}  // namespace

Expected<MergeReport> merge_file(const std::string& path, SQLite::Database& to, const std::string& beside) {
  TW_TRY(const auto source, Source::open(path, beside));
  return guarded(beside, [&]() -> Expected<MergeReport> {
    SQLite::Transaction transaction(to, SQLite::TransactionBehavior::IMMEDIATE);
    MergeReport report = merge(*source->connection, to);
    transaction.commit();
    return report;
  });
}

Expected<MergeReport> merge_workspace(const std::string& into, const std::string& from) {
  std::string path;
  TW_TRY(const std::string other, resolve_links(from));
  if (std::error_code ignored; fs::equivalent(into, other, ignored))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected two workspaces, found '{}' twice", printable(other)));
  TW_TRY(const auto writer, Writer::open(into, path));
  return merge_file(other, *writer->connection, path);
}

Expected<std::string> back_up_workspace(const std::string& given, const std::string& to) {
  TW_TRY(const std::string path, resolve_links(given));
  TW_CHECK(check_file(path, Mode::read_only));
  if (std::error_code ignored; !to.empty() && fs::exists(fs::symlink_status(to, ignored)))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a new name for the backup, found that '{}' is there", printable(to)));
  Damage damage;
  TW_TRY(const auto connection, open_reader(path, damage));
  TW_CHECK(check_version(*connection, path, embedded_migrations().back().number));
  if (to.empty()) return guarded(path, [&] { return back_up(*connection, path); });
  TW_CHECK(guarded(path, [&] { return copy_database(*connection, to); }));
  return to;
}

Expected<VacuumReport> vacuum_workspace(const std::string& given) {
  std::string path;
  TW_TRY(const auto writer, Writer::open(given, path));
  VacuumReport report;
  report.bytes_before = bytes_of(path) + bytes_of(path + "-wal");
  TW_CHECK(guarded(path, [&]() -> Expected<void> {
    writer->connection->exec("VACUUM");
    writer->connection->execAndGet("PRAGMA wal_checkpoint(TRUNCATE)");
    return {};
  }));
  report.bytes_after = bytes_of(path) + bytes_of(path + "-wal");
  return report;
}

Expected<WorkspaceStats> workspace_stats(const std::string& given) {
  TW_TRY(const std::string path, resolve_links(given));
  TW_CHECK(check_file(path, Mode::read_only));
  Damage damage;
  TW_TRY(const auto connection, open_reader(path, damage));
  WorkspaceStats stats;
  TW_TRY(stats.format, check_version(*connection, path, embedded_migrations().back().number));
  stats.bytes = bytes_of(path);
  stats.log_bytes = bytes_of(path + "-wal");
  stats.backups = backups_of(path);
  return guarded(path, [&]() -> Expected<WorkspaceStats> {
    stats.unused_bytes = connection->execAndGet("PRAGMA freelist_count").getInt64() * connection->execAndGet("PRAGMA page_size").getInt64();
    SQLite::Statement tables(
        *connection, "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_schema USING(name) WHERE aggregate = TRUE GROUP BY tbl_name ORDER BY 2 DESC, 1");
    while (tables.executeStep()) {
      const std::string name = tables.getColumn(0).getString();
      stats.tables.push_back({name, connection->execAndGet("SELECT count(*) FROM \"" + name + "\"").getInt64(), tables.getColumn(1).getInt64()});
    }
    return stats;
  });
}

}  // namespace tw::db
