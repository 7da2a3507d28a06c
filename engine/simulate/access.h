// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "engine/target/gpu.h"

/// What one access of a warp costs the memories of a GPU. Source: NVIDIA's CUDA C++ Best Practices Guide (coalescing, shared memory banks).
namespace tw::simulate {

/// What the threads of a warp access: the first byte of each, and how many bytes each.
struct WarpAccess {
  std::array<int64_t, target::kWarp> at{};
  uint32_t active = 0;  ///< a bit for each thread that takes part
  int bytes = 4;        ///< of each thread, 1 to 16
};

inline constexpr int kSector = 32;  ///< bytes that caches and memory move at once

/// Different sectors that are touched: 4 for a warp that reads 32 neighbouring floats.
int sectors(const WarpAccess& access);
/// Different lines of the level-1 cache, 128 bytes each, one of which it looks up in a clock.
int lines(const WarpAccess& access);
/// Clocks that shared memory needs: the most words of 4 bytes that lie in one of its 32 banks. Threads that access 8 or 16 bytes are served in halves or
/// quarters of the warp; a word that several threads read counts once.
int wavefronts(const WarpAccess& access);

}  // namespace tw::simulate
