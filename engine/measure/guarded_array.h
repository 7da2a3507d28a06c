// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tw::measure {

/// Memory of one argument, 64-byte aligned, between zones that no kernel may write: a page of a known pattern on each side, then a page without access.
/// The start is shifted within its page by `stagger` (a multiple of 64), so that arguments do not all compete for the same cache sets.
class GuardedArray {
 public:
  /// Null if there is no memory.
  static std::unique_ptr<GuardedArray> make(int64_t bytes, int64_t stagger);
  ~GuardedArray();
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  /// Distance of the damage to the array, such as `4 bytes past its end`; nothing if both zones are whole.
  std::optional<std::string> damage() const;

 private:
  GuardedArray() = default;
  std::byte* map_ = nullptr;
  size_t map_bytes_ = 0;
  std::byte *zone_begin_ = nullptr, *zone_end_ = nullptr;  ///< of the accessible part
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace tw::measure
