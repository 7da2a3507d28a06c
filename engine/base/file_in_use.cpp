// SPDX-License-Identifier: Apache-2.0
#include "engine/base/file_in_use.h"

#include <sys/stat.h>

#include <mutex>
#include <set>

namespace tw {
namespace {

/// Of the whole process, as the system's locks are.
struct Table {
  std::mutex mutex;
  std::multiset<std::pair<std::pair<dev_t, ino_t>, FileUse>> files;
};
Table& table() {
  static Table& t = *new Table();  // never destroyed: static values may be in use until the end
  return t;
}

}  // namespace

FileInUse::FileInUse(const std::string& path, FileUse use) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  file_ = {{info.st_dev, info.st_ino}, use};
  const std::lock_guard lock(table().mutex);
  table().files.insert(*file_);
}

FileInUse::~FileInUse() {
  if (!file_) return;
  const std::lock_guard lock(table().mutex);
  table().files.erase(table().files.find(*file_));
}

std::optional<FileUse> use_of(dev_t device, ino_t inode) {
  const std::lock_guard lock(table().mutex);
  for (const FileUse use : {FileUse::database, FileUse::input})
    if (table().files.contains({{device, inode}, use})) return use;
  return std::nullopt;
}

}  // namespace tw
