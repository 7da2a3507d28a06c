// SPDX-License-Identifier: Apache-2.0
#include "db/salvage.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <optional>

namespace tw::db {
namespace {

/// So many ids in a row that give nothing are taken for the end of a table.
constexpr int64_t kInVain = 100'000;

bool is_damage(const SQLite::Exception& e) { return e.getErrorCode() == SQLITE_CORRUPT || e.getErrorCode() == SQLITE_NOTADB; }

/// Steps until the end (true) or until a page cannot be read (false).
bool walk(SQLite::Statement& q, const std::function<void(SQLite::Statement&)>& f) {
  for (;;) {
    bool more = false;
    try {
      more = q.executeStep();
    } catch (const SQLite::Exception& e) {
      if (!is_damage(e)) throw;
      return false;
    }
    if (!more) return true;
    f(q);
  }
}

}  // namespace

void each_row(SQLite::Database& connection, const std::string& table, const std::string& key, Key kind, const std::string& columns,
              const std::function<void(SQLite::Statement&)>& f) {
  const std::string select = fmt::format("SELECT {1}, {2} FROM {0} ", table, key, columns);
  std::optional<int64_t> low, high;  // the last that were read from the front and from the back
  SQLite::Statement forward(connection, select + "ORDER BY 1");
  const auto keep = [&](std::optional<int64_t>& last) {
    return [&](SQLite::Statement& q) {
      if (kind == Key::id) last = q.getColumn(0).getInt64();
      f(q);
    };
  };
  if (walk(forward, keep(low))) return;
  SQLite::Statement back(connection, select + (low ? fmt::format("WHERE {} > {} ", key, *low) : "") + "ORDER BY 1 DESC");
  if (walk(back, keep(high)) || kind != Key::id) return;
  SQLite::Statement one(connection, select + fmt::format("WHERE {} = ?", key));
  int64_t in_vain = 0;
  for (int64_t i = low.value_or(0) + 1; (!high || i < *high) && in_vain < kInVain; ++i) {
    one.bind(1, i);
    ++in_vain;
    walk(one, [&](SQLite::Statement& q) {
      in_vain = 0;
      f(q);
    });
    one.tryReset();
  }
}

}  // namespace tw::db
