// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engine/simulate/launch_facts.h"
#include "engine/target/gpu.h"

namespace tw::simulate {

/// Where the time of a launch goes, in seconds as if nothing else took any. The total is a smooth maximum of them beside what cannot overlap.
struct KernelTime {
  double total = 0;       ///< 0 if the launch is impossible
  double issue = 0;       ///< warp schedulers
  double arithmetic = 0;  ///< the busiest of the arithmetic units
  double shared = 0;      ///< shared memory and level-1 cache
  double l2 = 0;
  double memory = 0;
  double latency = 0;                        ///< waiting for loads and barriers with the warps that fit
  double launch = 0;                         ///< starting the kernel, first loads and last stores
  double waves = 0;                          ///< rounds of blocks
  double memory_bytes = 0;                   ///< from and to DRAM
  int registers = 0, spilled_registers = 0;  ///< of a thread
  target::Occupancy occupancy;
  const char* limiter() const;  ///< the largest part, in a word
};

/// An estimate of how long the launch runs, for ranking schedules, not a measurement. `registers` of a thread as the compiler counted them; else estimated.
/// Composition: throughputs as in Hong and Kim (ISCA 2009) and Volkov (Understanding latency hiding on GPUs, 2016) with Little's law for latency, whole and
/// partial waves of blocks, a smooth maximum. Traffic per cache level from address patterns as in Ernst et al. (arXiv:2204.14242).
KernelTime kernel_time(const LaunchFacts& facts, const target::Gpu& gpu, std::optional<int> registers = std::nullopt);

}  // namespace tw::simulate
