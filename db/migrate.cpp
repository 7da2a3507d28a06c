// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <fmt/format.h>

#include "db/backup.h"
#include "db/sqlite_error.h"

namespace tw::db {
namespace {

/// `applied` is told how many of them are.
void apply(SQLite::Database& connection, int version, const std::vector<Migration>& migrations, const std::function<void(int)>& applied) {
  const int first = version;
  SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
  for (const Migration& m : migrations) {
    if (m.number <= version) continue;
    TW_ASSERT(m.number == version + 1, fmt::format("migration {} follows version {}", m.name, version));
    connection.exec(m.sql);
    version = m.number;
    applied(version - first);
  }
  connection.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  connection.exec(fmt::format("PRAGMA user_version = {}", version));
  transaction.commit();
}

}  // namespace

Expected<int> check_version(SQLite::Database& connection, const std::string& path, int newest) {
  return guarded(path, [&]() -> Expected<int> {
    const int64_t id = connection.execAndGet("PRAGMA application_id").getInt64();
    const int version = connection.execAndGet("PRAGMA user_version").getInt();
    const bool empty = connection.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
    if (id == 0 && version == 0 && empty) return 0;
    if (id != kApplicationId) {
      return Error(ErrorCode::parse_error,
                   fmt::format("Expected a Tilewright workspace in '{}', found a database of another program (application id {:#x})", path, id));
    }
    if (version < 1) {
      return Error(ErrorCode::corrupt, fmt::format("Expected a workspace of format version 1 to {} in '{}', found version {}, which no program writes", newest, path, version));
    }
    if (version > newest) {
      return Error(ErrorCode::version,
                   fmt::format("Expected a workspace of format version {} or older in '{}', found version {} of a newer program; this is Tilewright {}", newest,
                               path, version, TW_VERSION));
    }
    return version;
  });
}

Expected<void> migrate(SQLite::Database& connection, int version, const std::vector<Migration>& migrations, const std::string& backup_path, const Upgrade& upgrade) {
  if (migrations.empty() || migrations.back().number == version) return {};
  const int newest = migrations.back().number, copies = version > 0 ? 1 : 0;
  const auto tell = [&](int done) {
    if (upgrade.progress && version > 0) upgrade.progress(version, newest, done, newest - version + copies);
  };
  const Interruptible here(connection, upgrade.stop);
  const auto migrated = guarded(connection.getFilename(), [&]() -> Expected<void> {
    tell(0);
    if (version > 0) TW_CHECK(copy_database(connection, backup_path, upgrade.stop));
    tell(copies);
    apply(connection, version, migrations, [&](int done) { tell(copies + done); });
    return {};
  });
  if (!migrated && upgrade.stop.stop_requested())
    return Error(ErrorCode::cancelled, fmt::format("Bringing the workspace '{}' from format {} to {} was stopped; it is as it was", connection.getFilename(), version, newest));
  return migrated;
}

}  // namespace tw::db
