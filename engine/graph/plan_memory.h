// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tw::graph {

/// One array that needs storage from step `first` to step `last`, both included.
struct StorageRequest {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

struct StoragePlan {
  std::vector<int64_t> offsets;  ///< per request, bytes into one arena
  int64_t arena_bytes = 0;       ///< size of the arena
  int64_t live_bytes = 0;        ///< the most that is alive at one step: no plan can be smaller
  int64_t unplanned_bytes = 0;   ///< what all requests need side by side
};

/// Places arrays that are never alive together over each other, each into the smallest gap that holds it. Orders are tried until one reaches the lower bound:
/// largest first, by the fullest step that they are alive in, in order of time, longest alive first; the smallest arena wins.
/// Offsets and sizes are multiples of `alignment`.
/// Source: Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020 (greedy by size, greedy by breadth).
StoragePlan plan_memory(std::span<const StorageRequest> requests, int64_t alignment = 64);

}  // namespace tw::graph
