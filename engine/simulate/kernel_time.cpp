// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/kernel_time.h"

#include <algorithm>
#include <cmath>

namespace tw::simulate {

namespace {

using target::Gpu;
using target::GpuArch;
using target::kWarp;

/// Sharpness of the smooth maximum: 5 lets the second largest part show by some per cent.
constexpr double kSharpness = 5;
/// Share of the level-2 cache that holds what is used again.
constexpr double kL2Useful = 0.75;
/// Multiprocessors, as a share, that it takes to use all of the memory's bandwidth.
constexpr double kMemoryShare = 0.3;
constexpr double kLaunchSeconds = 2.5e-6;
constexpr double kBarrierClocks = 30, kArithmeticClocks = 4;
constexpr int kSchedulers = 4;
constexpr int kSharedBytesPerClock = 128;
constexpr int kInstructionCache = 128 * 1024;

double smooth_max(std::initializer_list<double> parts) {
  const double most = std::max(parts);
  if (most <= 0) return 0;
  double sum = 0;
  for (const double p : parts) sum += std::pow(p / most, kSharpness);
  return most * std::pow(sum, 1 / kSharpness);
}

/// Of what is touched in a launch, what is in use at the same time: blocks go through their inputs side by side, and come back to a sector for as many rounds
/// as it has elements.
double live(const LaunchFacts& f, double bytes) { return std::min(bytes, bytes * 8 / std::max(1.0, f.dependent_loads)); }

/// Bytes that move between level-2 cache and memory.
double memory_traffic(const LaunchFacts& f, const Gpu& gpu, double blocks_at_once) {
  double compulsory = 0, wave = 0;
  for (const ArrayTraffic& a : f.arrays) {
    compulsory += static_cast<double>(a.bytes);
    // Blocks start in the order of x, then y, then z.
    double tiles = 1, before = 1;
    for (int d = 0; d < 3; ++d) {
      const double here = std::min(static_cast<double>(f.grid[d]), std::ceil(blocks_at_once / before));
      if (a.depends[d]) tiles *= here;
      before *= static_cast<double>(f.grid[d]);
    }
    wave += std::min(static_cast<double>(a.bytes), tiles * static_cast<double>(a.block_bytes));
  }
  const double cache = kL2Useful * static_cast<double>(gpu.l2_bytes);
  if (compulsory <= cache) return compulsory;
  const double waves = std::max(1.0, static_cast<double>(f.blocks()) / blocks_at_once);
  const double again = std::max(0.0, waves * wave - compulsory);
  // What the blocks of a wave share stays in the cache while it fits; beyond that every sector is fetched again.
  const double sectors = 32 * (f.load_sectors + f.store_sectors) * f.warps() * static_cast<double>(f.blocks());
  const double overflow = std::clamp(live(f, wave) / cache - 1, 0.0, 1.0);
  return compulsory + again + overflow * std::max(0.0, sectors - compulsory - again);
}

/// Clocks of one multiprocessor that runs `blocks` of the launch at the same time, by what it waits for.
struct WaveParts {
  double issue, arithmetic, shared, l2, memory, latency;
  double total() const { return smooth_max({issue, arithmetic, shared, l2, memory, latency}); }
};

WaveParts wave_parts(const LaunchFacts& f, const Gpu& gpu, const GpuArch& arch, double blocks, double spill_accesses, double memory_bytes, double active) {
  const double clock = gpu.clock_mhz * 1e6, warps = blocks * f.warps();
  WaveParts p{};
  const double slow_fetch = f.code_bytes > kInstructionCache ? 1.3 : f.code_bytes > kInstructionCache / 4 ? 1.05 : 1.0;
  p.issue = std::ceil(warps / kSchedulers) * (f.instructions() + spill_accesses) * slow_fetch;
  const auto pipe = [&](double instructions, int rate) { return rate > 0 ? warps * kWarp * instructions / rate : 0; };
  p.arithmetic = std::max({pipe(f.fp32, arch.fp32_rate), pipe(f.fp64, arch.fp64_rate), pipe(f.fp16, std::max(arch.fp16_rate, 1)),
                           pipe(f.integer, arch.int_rate), pipe(f.special, arch.special_rate)});
  // Tensor units run at a clock of their own, for they take the most power.
  if (f.tensor > 0 && arch.tensor_rate > 0)
    p.arithmetic = std::max(p.arithmetic, warps * f.tensor / (arch.tensor_rate * gpu.tensor_share) * gpu.clock_mhz / gpu.tensor_clock_mhz);
  if (arch.floats_or_integers) p.arithmetic = std::max(p.arithmetic, pipe(f.fp32 + f.integer, arch.fp32_rate));
  p.shared = warps * (f.shared_wavefronts + std::max(f.load_lines, f.load_sectors * 32 / kSharedBytesPerClock) + spill_accesses);
  // Reads of one block that it has done before hit the level-1 cache if its tiles fit beside its shared memory.
  double block_bytes = 0;
  for (const ArrayTraffic& a : f.arrays) block_bytes += static_cast<double>(a.block_bytes);
  const double loaded = f.load_sectors * 32 * f.warps();
  const double room = std::max(0.0, arch.l1_bytes - blocks * static_cast<double>(f.shared_bytes + arch.shared_reserved));
  const double fits = std::clamp(room / std::max(1.0, blocks * live(f, block_bytes)), 0.0, 1.0);
  const double hit = loaded > 0 ? std::clamp(1 - block_bytes / loaded, 0.0, 1.0) * fits : 0;
  const double l2_bytes = 32 * (f.load_sectors * (1 - hit) + f.store_sectors) * warps;
  p.l2 = l2_bytes / (gpu.l2_bytes_per_s / (clock * gpu.multiprocessors));
  const double bandwidth = gpu.memory_bytes_per_s * gpu.memory_efficiency * std::min(1.0, active / (kMemoryShare * gpu.multiprocessors));
  p.memory = memory_bytes / bandwidth * clock;
  // A warp's own chain: each round of loads, each barrier, arithmetic in turn; the others hide it as far as they go.
  const double missed = f.load_sectors > 0 ? std::clamp(memory_bytes / std::max(1.0, 32 * f.load_sectors * warps * active), 0.0, 1.0) : 0;
  const double load_latency = arch.l2_latency + missed * (arch.memory_latency - arch.l2_latency);
  const double chain = f.dependent_loads * load_latency + f.barriers * kBarrierClocks + (f.shared_access > 0 ? f.barriers * arch.shared_latency : 0) +
                       (f.instructions() - f.shared_access - f.global_access) * kArithmeticClocks / 4 + f.instructions();
  p.latency = chain;
  return p;
}

}  // namespace

const char* KernelTime::limiter() const {
  const std::pair<double, const char*> parts[] = {
      {issue, "instructions issued"}, {arithmetic, "arithmetic"}, {shared, "shared memory"}, {l2, "level-2 cache"}, {memory, "memory"},
      {latency, "latency"},           {launch, "launch"}};
  return std::max_element(std::begin(parts), std::end(parts), [](const auto& a, const auto& b) { return a.first < b.first; })->second;
}

KernelTime kernel_time(const LaunchFacts& f, const Gpu& gpu, std::optional<int> registers) {
  const GpuArch& arch = target::gpu_arch(gpu.capability);
  KernelTime t;
  // The compiler keeps a block launchable, and spills what does not fit.
  const int wanted = registers.value_or(f.registers);
  int most = target::kMaxThreadRegisters;
  while (most > 16 && target::occupancy(gpu.capability, f.threads(), most, 0).blocks == 0) --most;
  t.registers = std::min(wanted, most);
  t.spilled_registers = wanted - t.registers;
  t.occupancy = target::occupancy(gpu.capability, f.threads(), t.registers, f.shared_bytes);
  if (t.occupancy.blocks == 0) return t;

  const double blocks = static_cast<double>(f.blocks()), at_once = static_cast<double>(t.occupancy.blocks), slots = at_once * gpu.multiprocessors;
  const double clock = gpu.clock_mhz * 1e6;
  t.waves = blocks / slots;
  const double traffic = memory_traffic(f, gpu, std::min(blocks, slots)), per_block = traffic / blocks;
  t.memory_bytes = traffic;
  // A register that does not fit goes out and comes back in every round of the main loop.
  const double spills = 2.0 * t.spilled_registers * std::max(1.0, f.barriers / 2);
  const auto wave = [&](double per_multiprocessor, double count) {
    return wave_parts(f, gpu, arch, per_multiprocessor, spills, per_block * count, std::min(count, static_cast<double>(gpu.multiprocessors)));
  };
  const double full = std::floor(blocks / slots), rest = blocks - full * slots;
  double clocks = 0;
  WaveParts sum{};
  const auto add = [&](const WaveParts& p, double times) {
    clocks += p.total() * times;
    for (double WaveParts::*part : {&WaveParts::issue, &WaveParts::arithmetic, &WaveParts::shared, &WaveParts::l2, &WaveParts::memory, &WaveParts::latency})
      sum.*part += p.*part * times;
  };
  // Blocks drift apart: with many waves the last one starts before the one before it has ended.
  if (full > 0) add(wave(at_once, slots), full);
  if (rest > 0) add(wave(std::ceil(rest / gpu.multiprocessors), rest), full >= 3 ? 0.5 * (1 + rest / slots) : 1);
  t.issue = sum.issue / clock;
  t.arithmetic = sum.arithmetic / clock;
  t.shared = sum.shared / clock;
  t.l2 = sum.l2 / clock;
  t.memory = sum.memory / clock;
  t.latency = sum.latency / clock;
  t.launch = kLaunchSeconds + (arch.memory_latency * 2.0) / clock;
  t.total = clocks / clock + t.launch;
  return t;
}

}  // namespace tw::simulate
