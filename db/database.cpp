// SPDX-License-Identifier: Apache-2.0
#include "db/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>

#include "db/database_impl.h"
#include "db/migrate.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::db {
namespace {

constexpr int kBusyTimeoutMs = 5000;

/// Several processes of one machine see the same memory of a file there, which the log of SQLite needs; servers' files are shared between machines.
bool is_of_a_server(const std::string& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return false;
  constexpr int64_t kServers[] = {0x6969 /* NFS */, 0x517b /* SMB */, 0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */, 0x5346414f /* AFS */};
  return std::find(std::begin(kServers), std::end(kServers), static_cast<int64_t>(static_cast<uint32_t>(info.f_type))) != std::end(kServers);
}

/// Looks at the first bytes, before SQLite could create or recover anything.
Expected<void> check_file(const std::string& path, Mode mode) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path file(path), folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::exists(file, ignored)) {
    if (!fs::is_directory(folder, ignored))
      return Error(ErrorCode::io_error, fmt::format("Expected the folder '{}' for the workspace, found none", folder.string()));
    if (mode == Mode::read_only) return Error(ErrorCode::not_found, fmt::format("Expected a workspace '{}', found no such file", path));
    return {};
  }
  if (is_of_a_server(path))
    return Error(ErrorCode::io_error, fmt::format("Expected a workspace on a disk of this machine, found '{}' on a file server", printable(path)));
  if (mode == Mode::read_only && fs::hard_link_count(file, ignored) > 1) {
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a workspace with one name, found that '{}' has {}: SQLite keeps its log beside one of them",
                                                          printable(path), fs::hard_link_count(file, ignored)));
  }
  if (!fs::is_regular_file(file, ignored)) return Error(ErrorCode::io_error, fmt::format("Expected a workspace '{}', found no regular file", path));
  if (struct stat info{}; ::stat(path.c_str(), &info) == 0 && use_of(info.st_dev, info.st_ino) == FileUse::database) return {};  // it was looked at then
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error(ErrorCode::io_error, fmt::format("The workspace '{}' cannot be read", path));
  std::string head(16, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (stream.gcount() == 0 && mode == Mode::read_write) return {};
  if (head != std::string("SQLite format 3\0", 16)) {
    return Error(ErrorCode::parse_error, fmt::format("Expected a Tilewright workspace in '{}', found a file that is no SQLite database", path));
  }
  if (mode == Mode::read_write && ::access(path.c_str(), W_OK) != 0)
    return Error(ErrorCode::io_error, fmt::format("The workspace '{}' cannot be written", path));
  return {};
}

Expected<std::unique_ptr<SQLite::Database>> connect(const std::string& name, int flags) {
  return guarded(name, [&]() -> Expected<std::unique_ptr<SQLite::Database>> {
    auto connection = std::make_unique<SQLite::Database>(name, flags);
    connection->setBusyTimeout(kBusyTimeoutMs);
    // A writer's cache saves reads of the indices that every trial changes; readers go through pages once.
    connection->exec(fmt::format("PRAGMA cache_size = {}", (flags & SQLite::OPEN_READONLY) != 0 ? -16384 : -65536));
    for (const char* pragma : {"foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"}) {
      connection->exec(fmt::format("PRAGMA {}", pragma));
    }
    // Reads the schema: a file that cannot be read shows here.
    connection->execAndGet("SELECT count(*) FROM sqlite_schema");
    return connection;
  });
}

Expected<std::unique_ptr<SQLite::Database>> open_reader(const std::string& path) {
  auto connection = connect(path, SQLite::OPEN_READONLY);
  std::error_code ignored;
  const auto log_bytes = std::filesystem::file_size(path + "-wal", ignored);
  if (!connection && (ignored || log_bytes == 0)) {
    // A folder that cannot be written has no place for the shared index of the log; without a log the file itself is all there is.
    connection = connect("file:" + path + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  }
  if (!connection) return connection;
  (*connection)->exec("PRAGMA wal_autocheckpoint = 0");
  sqlite3_db_config((*connection)->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return connection;
}

Expected<std::unique_ptr<SQLite::Database>> open_writer(const std::string& path, bool check) {
  TW_TRY(auto connection, connect(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE));
  const auto& migrations = embedded_migrations();
  TW_TRY(const int version, check_version(*connection, path, migrations.back().number));
  TW_CHECK(guarded(path, [&]() -> Expected<void> {
    if (version == 0) connection->exec("PRAGMA page_size = 8192");
    const std::string mode = connection->execAndGet("PRAGMA journal_mode = WAL").getString();
    if (mode != "wal")
      return Error(ErrorCode::io_error, fmt::format("Expected a file system with shared memory for '{}', found that SQLite uses '{}' there", path, mode));
    connection->exec("PRAGMA synchronous = FULL");
    if (!check || version == 0) return {};
    const std::string found = connection->execAndGet("PRAGMA quick_check(1)").getString();
    if (found != "ok") return Error(ErrorCode::corrupt, fmt::format("The workspace '{}' is damaged: {}", path, found));
    return {};
  }));
  TW_CHECK(migrate(*connection, version, migrations, fmt::format("{}.v{}.backup", path, version)));
  return connection;
}

/// Sessions that were running belong to a process that is gone: only one writes.
Expected<void> interrupt_stale_sessions(SQLite::Database& connection, const std::string& path) {
  return guarded(path, [&]() -> Expected<void> {
    if (connection.execAndGet("SELECT count(*) FROM session WHERE state = 'running'").getInt() == 0) return {};
    connection.exec(
        "UPDATE session SET state = 'interrupted', ended_s = "
        "max(started_s, coalesce((SELECT max(timestamp_s) FROM trial WHERE trial.session_id = session.id), 0)) WHERE state = 'running'");
    return {};
  });
}

}  // namespace

Expected<Json> stored_json(const std::string& text, const char* column) {
  auto json = parse_json(text, column);
  if (!json) return Error(ErrorCode::corrupt, fmt::format("Expected JSON in the column '{}', found damaged text", column));
  return json;
}

double seconds_or_infinity(const SQLite::Column& column) { return column.isNull() ? std::numeric_limits<double>::infinity() : column.getDouble(); }

Expected<void> Database::Impl::still_there() {
  int moved = 0;
  if (sqlite3_file_control(connection->getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || moved == 0) return {};
  std::error_code error;
  const bool replaced = std::filesystem::exists(path, error);
  const std::string name = fmt::format("{}.rescued-{}", std::filesystem::path(path).filename().string(), static_cast<int64_t>(unix_now_s()));
  lost = Error(ErrorCode::io_error, fmt::format("The workspace '{}' was {} while it was open, and what it held could not be kept", path,
                                                replaced ? "replaced by another file" : "deleted"));
  for (const std::filesystem::path& folder : {std::filesystem::path(path).parent_path(), std::filesystem::temp_directory_path(error)}) {
    const std::string kept = (folder / name).string();
    if (!copy_database(*connection, kept)) continue;
    lost->message = fmt::format("The workspace '{}' was {} while it was open; all that was stored is in '{}'", path,
                                replaced ? "replaced by another file" : "deleted", kept);
    break;
  }
  return *lost;
}

Database::Database() : impl_(std::make_unique<Impl>()) {}
Database::~Database() {
  impl_->connection.reset();
  impl_->in_use.reset();
  impl_->lock.reset();
  close_parked();
}
const std::string& Database::path() const { return impl_->path; }
Mode Database::mode() const { return impl_->mode; }

Expected<std::shared_ptr<Database>> Database::open(const std::string& given, Mode mode) {
  // SQLite keeps its log, and we the lock, beside the file itself.
  TW_TRY(const std::string path, resolve_links(given));
  TW_CHECK(check_file(path, mode));
  std::shared_ptr<Database> db(new Database);
  Impl& impl = *db->impl_;
  impl.path = path;
  impl.mode = mode;
  if (mode == Mode::read_only) {
    impl.in_use.emplace(path, FileUse::database);
    TW_TRY(impl.connection, open_reader(path));
    TW_TRY(const int version, check_version(*impl.connection, path, embedded_migrations().back().number));
    if (version < embedded_migrations().back().number) {
      return Error(ErrorCode::version,
                   fmt::format("Expected a workspace of format version {} in '{}', found version {}; open it once for writing to bring it up to date",
                               embedded_migrations().back().number, path, version));
    }
    return db;
  }
  TW_TRY(impl.lock, LockFile::acquire(path));
  impl.in_use.emplace(path, FileUse::database);
  TW_TRY(impl.connection, open_writer(path, !impl.lock->last_end_was_clean()));
  TW_CHECK(interrupt_stale_sessions(*impl.connection, path));
  return db;
}

}  // namespace tw::db
