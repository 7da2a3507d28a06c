// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"

namespace tw::db {

/// SQLite's failure as an Error that names the file.
Error sqlite_error(const SQLite::Exception& e, const std::string& path);

/// While it lives, statements of the connection fail soon after `stop` is asked for.
class Interruptible {
 public:
  Interruptible(SQLite::Database& connection, const StopToken& stop);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  SQLite::Database& connection_;
  StopToken stop_;
};

/// Runs f, which returns an Expected; SQLite's exceptions end here.
template <class F>
auto guarded(const std::string& path, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const SQLite::Exception& e) {
    return sqlite_error(e, path);
  }
}

}  // namespace tw::db
