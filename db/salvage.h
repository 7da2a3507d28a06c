// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <functional>
#include <string>

namespace tw::db {

/// How the rows of a table are told apart.
enum class Key {
  id,     ///< each has an integer of its own
  other,  ///< they have an order only: rows beside a damaged page may come twice
};

/// Rows of a table whose pages may be damaged: from the front up to what cannot be read, from the back down to it, and between the two by asking for each id.
/// `key`: the column to go by, the first of an index or of the table's key. `columns`: what is selected after it.
/// f gets statements that stand on a row.
void each_row(SQLite::Database& connection, const std::string& table, const std::string& key, Key kind, const std::string& columns,
              const std::function<void(SQLite::Statement&)>& f);

}  // namespace tw::db
