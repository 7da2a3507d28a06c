// SPDX-License-Identifier: Apache-2.0
#include "db/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace tw::db {

Error sqlite_error(const SQLite::Exception& e, const std::string& path) {
  switch (e.getErrorCode()) {
    case SQLITE_FULL:
      return Error(ErrorCode::no_space, fmt::format("No space is left for '{}'; what was stored before is safe", path));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Error(ErrorCode::corrupt, fmt::format("The workspace '{}' is damaged: {}", path, e.what()));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(ErrorCode::infrastructure, fmt::format("The workspace '{}' stayed locked by another process for 5 s", path));
    case SQLITE_CONSTRAINT:
      return Error(ErrorCode::invalid_argument, fmt::format("A row of '{}' breaks a rule: {}", path, e.what()));
    case SQLITE_NOMEM:
      return Error(ErrorCode::out_of_memory, fmt::format("Not enough memory for '{}'", path));
    case SQLITE_READONLY:
      return Error(ErrorCode::io_error, fmt::format("The workspace '{}' cannot be written", path));
    case SQLITE_IOERR:
      if (e.getExtendedErrorCode() == SQLITE_IOERR_WRITE)
        return Error(ErrorCode::no_space, fmt::format("Writing to '{}' failed, as beyond a limit of the size of files; what was stored before is safe", path));
      [[fallthrough]];
    default:
      return Error(ErrorCode::io_error, fmt::format("The workspace '{}' failed: {}", path, e.what()));
  }
}

Interruptible::Interruptible(SQLite::Database& connection, const StopToken& stop) : connection_(connection), stop_(stop) {
  constexpr int kInstructions = 1000;  // of SQLite's machine, of which the slowest here sums up a row
  if (stop_.stop_possible())
    sqlite3_progress_handler(connection_.getHandle(), kInstructions, [](void* stop) { return static_cast<const StopToken*>(stop)->stop_requested() ? 1 : 0; }, &stop_);
}

Interruptible::~Interruptible() {
  if (stop_.stop_possible()) sqlite3_progress_handler(connection_.getHandle(), 0, nullptr, nullptr);
}

}  // namespace tw::db
