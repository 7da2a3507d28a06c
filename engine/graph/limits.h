// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tw::graph {

/// The most elements of a tensor: sums of a few extents and sizes in bytes are far from overflow.
inline constexpr int64_t kMaxElements = int64_t{1} << 40;

/// Whether the product of the extents, where 0 counts as 1, is at most kMaxElements. Extents are not negative.
inline bool within_limits(const std::vector<int64_t>& shape) {
  int64_t room = kMaxElements;
  for (const int64_t d : shape) {
    if (d > room) return false;
    if (d > 0) room /= d;
  }
  return true;
}

}  // namespace tw::graph
