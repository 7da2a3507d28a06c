// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>
#include <vector>

#include "db/upgrade.h"
#include "engine/base/expected.h"

namespace tw::db {

/// One step of the file format: brings a file of version `number - 1` to `number`.
struct Migration {
  int number = 0;
  const char* name = "";  ///< of its .sql file
  const char* sql = "";
};

/// migrations/*.sql, ascending and without gaps; the last number is the version that this program writes.
const std::vector<Migration>& embedded_migrations();

/// `TWDB` as SQLite's application_id.
inline constexpr int32_t kApplicationId = 0x54574442;

/// Checks that an open file is a workspace, or empty. Errors: parse_error for another program's file, version for a newer file, corrupt for a version that
/// no program writes.
Expected<int> check_version(SQLite::Database& connection, const std::string& path, int newest);

/// Applies what is missing after `version`, all in one transaction. A file that already holds data is copied to `backup_path` first. Errors: cancelled.
Expected<void> migrate(SQLite::Database& connection, int version, const std::vector<Migration>& migrations, const std::string& backup_path, const Upgrade& upgrade = {});

}  // namespace tw::db
