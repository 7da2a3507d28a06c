// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"

namespace tw::db {

/// A copy of all that a connection sees, in a file of its own that was looked through: it is there whole or not at all, in the place of any earlier one.
/// Errors: no_space, io_error, corrupt if what was copied is damaged, cancelled.
Expected<void> copy_database(SQLite::Database& source, const std::string& path, const StopToken& stop = {});

/// Backups beside a workspace, `NAME.backup-TIME`, newest first.
std::vector<std::string> backups_of(const std::string& path);
/// Copies to a new backup beside the workspace, of which the newest five stay. Returns its name. Errors: those of copy_database; no_space also when little
/// would be left for the workspace itself.
Expected<std::string> back_up(SQLite::Database& source, const std::string& path);

/// Of a file; 0 if there is none.
int64_t bytes_of(const std::string& path);
/// `20240506T070809Z` of the present, for names of files; in their order by name they are in their order by time.
std::string time_stamp();
/// SQLite's name for a file that is opened with options.
std::string uri_of(const std::string& path, const std::string& options);

}  // namespace tw::db
