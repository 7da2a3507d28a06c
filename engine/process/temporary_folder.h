// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/expected.h"

namespace tw::process {

/// A folder below the system's temporary folder that goes away with this value.
class TemporaryFolder {
 public:
  /// Errors: infrastructure.
  static Expected<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace tw::process
