// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "engine/base/expected.h"

namespace tw::process {

/// A folder below the system's temporary folder that goes away with this value. It is locked for as long as its process lives.
class TemporaryFolder {
 public:
  /// Errors: infrastructure.
  static Expected<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  TemporaryFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

/// Removes this user's folders that dead processes left behind.
void sweep_temporary_folders();

}  // namespace tw::process
