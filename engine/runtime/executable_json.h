// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <utility>

#include "engine/base/json_fwd.h"
#include "engine/runtime/executable.h"

namespace tw::runtime {

/// The distinct byte arrays of an executable; equal contents are kept once.
class Blobs {
 public:
  /// Number of `bytes`, which must outlive this.
  int add(std::span<const std::byte> bytes);
  const std::vector<std::span<const std::byte>>& list() const { return list_; }

 private:
  std::vector<std::span<const std::byte>> list_;
  std::map<std::string, int> by_content_;
  std::map<std::pair<const std::byte*, size_t>, int> by_address_;
};

/// Everything of an executable but the bytes, which are added to `blobs` and named by number; the object stands apart.
Json executable_to_json(const Executable& e, Blobs& blobs);
/// Errors: parse_error for a wrong structure, corrupt for indices, sizes and names that do not fit together.
Expected<Executable> executable_from_json(const Json& json, std::span<const std::shared_ptr<const ArrayBytes>> blobs);
/// What execution relies on: indices in range, intermediates inside the arena, constants of their size, calls that match their kernel's signature.
Expected<void> check_executable(const Executable& e);

}  // namespace tw::runtime
