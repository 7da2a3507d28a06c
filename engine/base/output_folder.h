// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace tw {

/// A folder of several outputs. A file of it may be written again, a file that somebody else put there never: the folder's list `.tilewright` names what was
/// written.
class OutputFolder {
 public:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  /// `name` may lie in folders, which are made. Errors: invalid_argument for a file that is not ours; those of FileWriter.
  Expected<void> write(const std::string& name, std::string_view bytes);

 private:
  Expected<void> read_list();

  std::string path_;
  bool read_ = false;
  std::set<std::string> names_;
};

}  // namespace tw
