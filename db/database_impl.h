// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "db/database.h"
#include "db/lock_file.h"
#include "db/row_checks.h"
#include "db/sqlite_error.h"
#include "engine/base/file_in_use.h"

namespace tw::db {

/// What all stores share. The connection goes before the lock, and before what it notes.
struct Database::Impl {
  std::string path;
  Mode mode = Mode::read_write;
  std::unique_ptr<LockFile> lock;
  std::optional<FileInUse> in_use;
  Damage damage;
  std::function<void()> tell_damage;
  std::unique_ptr<SQLite::Database> connection;
  double backup_every_s = 3600, backed_up_s = 0;
  std::map<std::string, int64_t> removed_up_to;  ///< by table: the highest number when a session was removed, which may come back
  std::optional<Error> lost;  ///< the file is gone; nothing is written any more
  std::mutex mutex;

  /// Runs f(connection) alone. Whoever wants to know of damaged rows is told when f has met another.
  template <class F>
  auto read(F&& f) -> decltype(f(*connection)) {
    std::function<void()> tell;
    auto result = [&] {
      const std::lock_guard guard(mutex);
      const size_t known = damage.count();
      auto found = guarded(path, [&] { return f(*connection); });
      if (damage.count() != known) tell = tell_damage;
      return found;
    }();
    if (tell) tell();
    return result;
  }
  /// Runs f(connection) alone in one transaction, which is rolled back if f fails.
  template <class F>
  auto write(F&& f) -> decltype(f(*connection)) {
    using Result = decltype(f(*connection));
    const std::lock_guard guard(mutex);
    if (mode == Mode::read_only) return Error(ErrorCode::io_error, "The workspace '" + path + "' is open for reading only");
    return guarded(path, [&]() -> Result {
      SQLite::Transaction transaction(*connection, SQLite::TransactionBehavior::IMMEDIATE);
      if (lost) return *lost;
      Result result = f(*connection);
      if (!result) return result;
      transaction.commit();
      TW_CHECK(still_there());
      return result;
    });
  }
  /// A number that no row of the table has, nor one that may come back.
  int64_t fresh_id(const char* table);
  /// Whether `path` still leads to the open file. If not, what was stored is copied to a new file while the connection can still read it. Errors: io_error,
  /// naming that file.
  Expected<void> still_there();
  /// A backup, if it is time for one; what came of it is an event of the session.
  void back_up_if_due(SessionId session);
};

/// Of a name that time_kind_name gives; `measured` for others.
TimeKind time_kind_from_name(std::string_view name);
void put_event(SQLite::Database& connection, SessionId session, const std::string& kind, const std::string& text, double at_s);
/// When a session did not work: pauses, and from an interruption until it went on. Unix times, ascending.
struct Break {
  double begin_s = 0, end_s = 0;
};
std::vector<Break> breaks_of(SQLite::Database& connection, SessionId session);
/// How much of them lies before a moment.
double paused_before(const std::vector<Break>& breaks, double at_s);

/// NULL is infinity: no time is known.
double seconds_or_infinity(const SQLite::Column& column);

}  // namespace tw::db
