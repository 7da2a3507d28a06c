// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

namespace tw {

/// What a file is used for. A database's locks go when the process closes any descriptor of its file, so nothing but the database itself opens it.
enum class FileUse { input, database };

/// A file that this process uses. As long as the value lives, no output takes its place (FileWriter), whatever name leads to it, and a database is not looked
/// into besides (FileReader).
class FileInUse {
 public:
  /// Follows links. A file that is not there is not in use.
  FileInUse(const std::string& path, FileUse use);
  ~FileInUse();
  FileInUse(FileInUse&& other) noexcept : file_(std::exchange(other.file_, std::nullopt)) {}
  FileInUse& operator=(FileInUse&&) = delete;

 private:
  std::optional<std::pair<std::pair<dev_t, ino_t>, FileUse>> file_;
};

/// How this process uses a file; as a database, if in several ways.
std::optional<FileUse> use_of(dev_t device, ino_t inode);

}  // namespace tw
