// SPDX-License-Identifier: Apache-2.0
#include "db/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "db/backup.h"
#include "db/bundle.h"
#include "db/migrate.h"
#include "db/sqlite_error.h"
#include "engine/base/file_in_use.h"
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

}  // namespace

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
  if (is_bundle(path))
    return Error(ErrorCode::io_error, fmt::format("'{0}' is a bundle, which can only be read; `tw db unpack {0} FILE.twdb` makes a workspace of it", printable(path)));
  if (head != std::string("SQLite format 3\0", 16)) {
    return Error(ErrorCode::parse_error, fmt::format("Expected a Tilewright workspace in '{}', found a file that is no SQLite database", path));
  }
  if (mode == Mode::read_write && ::access(path.c_str(), W_OK) != 0)
    return Error(ErrorCode::io_error, fmt::format("The workspace '{}' cannot be written", path));
  return {};
}

namespace {

Expected<std::unique_ptr<SQLite::Database>> connect(const std::string& name, int flags, Damage& damage) {
  return guarded(name, [&]() -> Expected<std::unique_ptr<SQLite::Database>> {
    // Whoever has a connection lets one thread at a time use it (Database::Impl::mutex): SQLite's own lock, taken again in every call, would only cost time.
    auto connection = std::make_unique<SQLite::Database>(name, flags | SQLite::OPEN_NOMUTEX);
    connection->setBusyTimeout(kBusyTimeoutMs);
    add_row_checks(*connection, damage);
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

}  // namespace

Expected<std::unique_ptr<SQLite::Database>> open_reader(const std::string& path, Damage& damage) {
  auto connection = connect(path, SQLite::OPEN_READONLY, damage);
  std::error_code ignored;
  const auto log_bytes = std::filesystem::file_size(path + "-wal", ignored);
  if (!connection && (ignored || log_bytes == 0)) {
    // A folder that cannot be written has no place for the shared index of the log; without a log the file itself is all there is.
    connection = connect(uri_of(path, "immutable=1"), SQLite::OPEN_READONLY | SQLite::OPEN_URI, damage);
  }
  if (!connection) return connection;
  (*connection)->exec("PRAGMA wal_autocheckpoint = 0");
  sqlite3_db_config((*connection)->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return connection;
}

Expected<std::unique_ptr<SQLite::Database>> open_writer(const std::string& path, bool check, Damage& damage, const Upgrade& upgrade) {
  TW_TRY(auto connection, connect(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, damage));
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
  TW_CHECK(migrate(*connection, version, migrations, fmt::format("{}.v{}.backup", path, version), upgrade));
  return connection;
}

}  // namespace tw::db
