// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engine/runtime/thread_pool.h"
#include "engine/target/gpu.h"

namespace tw::measure {

/// A kernel that takes longer than the first, in seconds, and stays below so much of its roofline is to be explained.
inline constexpr double kWorthALook = 20e-6, kLowShare = 0.25;

/// What a machine reaches with all threads of a pool: the roof that a kernel's time is held against.
/// Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures", CACM 2009.
struct Roofline {
  struct Level {
    int64_t bytes = 0;       ///< read over and over, by all threads together
    double bytes_per_s = 0;  ///< so fast
  };
  double flop_per_s = 0;      ///< float32 multiply-adds in registers; 0 where there is no measuring loop for the processor
  std::vector<Level> levels;  ///< ascending; caches show as higher rates of the first ones

  /// Rate for arrays of so many bytes: that of the first level that is as large, of the last one beyond.
  double bytes_per_s(double bytes) const;
  /// Time that arithmetic and memory take at least, in seconds; 0 if neither is known.
  double least_seconds(double flops, double bytes) const;
  /// Whether memory and not arithmetic sets that time.
  bool memory_bound(double flops, double bytes) const;
};

/// Of a GPU by its data sheet, with what is reached of its memory's bandwidth: not measured.
Roofline gpu_roofline(const target::Gpu& gpu);

/// Takes about `seconds`.
Roofline measure_roofline(const runtime::ThreadPool& pool, double seconds);

}  // namespace tw::measure
