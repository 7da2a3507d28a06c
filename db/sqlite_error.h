// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "engine/base/expected.h"

namespace tw::db {

/// SQLite's failure as an Error that names the file.
Error sqlite_error(const SQLite::Exception& e, const std::string& path);

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
