// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/array_bytes.h"
#include "engine/base/expected.h"

namespace tw::frontends {

/// Tensor data kept in files beside a model. Only regular files below the model's folder are read: no absolute paths, no `..`,
/// no symbolic links anywhere on the way, no files with a second hard link.
class ExternalData {
 public:
  /// `folder` is where the files may lie; empty if there is none. `on_file` is told the size of each before anything is read from it.
  explicit ExternalData(std::string folder, std::function<void(int64_t bytes)> on_file = {}, ArrayRoom room = {})
      : folder_(std::move(folder)), on_file_(std::move(on_file)), room_(std::move(room)) {}

  /// `length` bytes from `offset` of the file at `location`; a negative length means up to the end.
  /// Errors: invalid_argument (a location outside the folder, or a link), not_found, corrupt (a range outside the file), io_error, resource_limit.
  Expected<ArrayBytes> read(const std::string& location, int64_t offset, int64_t length);

  const ArrayRoom& room() const { return room_; }  ///< for arrays in the model file itself

 private:
  std::string folder_;
  std::function<void(int64_t)> on_file_;
  ArrayRoom room_;
  std::set<std::string> files_;
};

}  // namespace tw::frontends
