// SPDX-License-Identifier: Apache-2.0
#include "engine/target/bounds.h"

#include <algorithm>

namespace tw::target {
namespace {

constexpr double kMostClock = 6.5e9, kOverclocked = 1.1;
constexpr double kFusedPerCycle = 2, kStoresPerCycle = 2, kTileSpeedup = 64;
constexpr double kWarpBytes = 128;
constexpr int kMostCores = 512, kMostVectorBits = 512;  // eight sockets of 60, two of 192

}  // namespace

double most_flops(const Target& target) {
  if (target.gpu) return kOverclocked * peak_flops(*target.gpu);
  return 2 * kFusedPerCycle * target.lanes() * target.cores * kMostClock;
}

double most_narrow_speedup(const Target& target) { return target.gpu ? narrow_speedup(*target.gpu) : kTileSpeedup; }

double most_stored_bytes_per_s(const Target& target) {
  if (target.gpu) return kOverclocked * kWarpBytes * target.gpu->multiprocessors * target.gpu->clock_mhz * 1e6;
  return kStoresPerCycle * (target.vector_bits / 8.0) * target.cores * kMostClock;
}

Target widest_processor(Target processor) {
  processor.cores = std::max(processor.cores, kMostCores);
  processor.vector_bits = std::max(processor.vector_bits, kMostVectorBits);
  return processor;
}

}  // namespace tw::target
