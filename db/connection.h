// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <string>

#include "db/row_checks.h"

/// Connections to a workspace's file with all that holds for each of them: checks of cells and rows, nothing mapped, one that writes and checkpoints.
namespace tw::db {

/// Looks at the first bytes, before SQLite could create or recover anything. Errors: not_found, io_error, parse_error for a file that is no database.
Expected<void> check_file(const std::string& path, Mode mode);

/// Never checkpoints. `damage` outlives the connection.
Expected<std::unique_ptr<SQLite::Database>> open_reader(const std::string& path, Damage& damage);
/// Brings the file up to date; with `check` its structure is looked through first. The caller holds the lock of the file. Errors: also cancelled.
Expected<std::unique_ptr<SQLite::Database>> open_writer(const std::string& path, bool check, Damage& damage, const Upgrade& upgrade = {});

}  // namespace tw::db
