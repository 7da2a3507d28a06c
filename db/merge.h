// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "db/maintenance.h"

namespace tw::db {

/// Copies what `to` lacks, row by row, without a transaction of its own. Both have the newest format. Pages of `from` that cannot be read are passed over, and
/// the rows around them taken. Errors: those of writing.
MergeReport merge(SQLite::Database& from, SQLite::Database& to);

/// The same from a file of any format, in one transaction; an older one is brought up to date in a copy beside `beside` for as long as it takes. Errors: those of
/// opening, and of writing.
Expected<MergeReport> merge_file(const std::string& from, SQLite::Database& to, const std::string& beside);

}  // namespace tw::db
