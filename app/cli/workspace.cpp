// SPDX-License-Identifier: Apache-2.0
#include "app/cli/workspace.h"

#include <map>
#include <mutex>

#include "app/cli/common.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

struct Met {
  std::mutex mutex;
  std::map<std::string, size_t> rows;  ///< path -> damaged rows
};
Met& met() {
  static Met& m = *new Met();  // never destroyed: readers may outlive main
  return m;
}

}  // namespace

Expected<std::shared_ptr<db::Database>> open_workspace(const std::string& path, db::Mode mode) {
  TW_TRY(auto db, db::Database::open(path, mode));
  db->on_damage([weak = std::weak_ptr(db), path] {
    const auto there = weak.lock();
    if (!there) return;
    const size_t count = there->damaged().size();
    const std::lock_guard guard(met().mutex);
    met().rows[path] = std::max(met().rows[path], count);
  });
  return db;
}

void say_damage() {
  const std::lock_guard guard(met().mutex);
  for (const auto& [path, rows] : met().rows) {
    note(fmt::format("Note: {} damaged row{} of '{}' left out; `tw db check {}` names {}, `tw db repair` restores what a backup has", rows,
                     rows == 1 ? " was" : "s were", printable(path), printable(path), rows == 1 ? "it" : "them"));
  }
}

}  // namespace tw::cli
