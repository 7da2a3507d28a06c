// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <mutex>
#include <optional>

#include "db/database.h"
#include "db/lock_file.h"
#include "db/sqlite_error.h"
#include "engine/base/file_in_use.h"
#include "engine/base/json_fwd.h"

namespace tw::db {

/// What all stores share. The connection goes before the lock.
struct Database::Impl {
  std::string path;
  Mode mode = Mode::read_write;
  std::unique_ptr<LockFile> lock;
  std::optional<FileInUse> in_use;
  std::unique_ptr<SQLite::Database> connection;
  std::optional<Error> lost;  ///< the file is gone; nothing is written any more
  std::mutex mutex;

  /// Runs f(connection) alone.
  template <class F>
  auto read(F&& f) -> decltype(f(*connection)) {
    const std::lock_guard guard(mutex);
    return guarded(path, [&] { return f(*connection); });
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
  /// Whether `path` still leads to the open file. If not, what was stored is copied to a new file while the connection can still read it. Errors: io_error,
  /// naming that file.
  Expected<void> still_there();
};

/// A stored JSON text. Errors: corrupt.
Expected<Json> stored_json(const std::string& text, const char* column);

/// NULL is infinity: no time is known.
double seconds_or_infinity(const SQLite::Column& column);

}  // namespace tw::db
