// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tw {

/// a / b rounded down; b is not 0. The one quotient that has no room, of the smallest number by -1, wraps.
inline int64_t floor_div_int(int64_t a, int64_t b) {
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
/// a - b * floor_div_int(a, b): of the sign of b, or 0.
inline int64_t floor_mod_int(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace tw
