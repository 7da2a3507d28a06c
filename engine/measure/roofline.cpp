// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/roofline.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "engine/measure/peak.h"
#include "engine/runtime/workspace.h"

namespace tw::measure {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kSmallest = int64_t{1} << 15, kLargest = int64_t{1} << 28;  ///< bytes of all threads together
constexpr int64_t kGrowth = 4;
constexpr double kPeakShare = 0.25;  ///< of the time, for arithmetic

/// Four streams, so that no sum waits for the one before it. Integers add in any order, so compilers vectorise this.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#endif
uint64_t
read_all(const uint64_t* data, int64_t quarter) {
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (int64_t i = 0; i < quarter; ++i) {
    a += data[i];
    b += data[i + quarter];
    c += data[i + 2 * quarter];
    d += data[i + 3 * quarter];
  }
  return a + b + c + d;
}

/// Runs work(thread) on every thread of the pool at once.
void on_every_thread(const runtime::ThreadPool& pool, const std::function<void(int64_t thread)>& work) {
  const auto body = [](void* closure, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) (*static_cast<const std::function<void(int64_t)>*>(closure))(t);
  };
  pool.api()->parallel_for(pool.api()->ctx, pool.threads(), body, const_cast<std::function<void(int64_t)>*>(&work));
}

double sum(const std::vector<double>& v) {
  double total = 0;
  for (const double x : v) total += x;
  return total;
}

/// Best rate of one thread within the time.
double level_read_rate(const uint64_t* data, int64_t bytes, double seconds) {
  const int64_t quarter = bytes / 32;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  // Small arrays are read often enough between two looks at the clock.
  const int64_t rounds = std::max<int64_t>(1, (int64_t{1} << 22) / bytes);
  [[maybe_unused]] volatile uint64_t sink = 0;
  double best = 0;
  do {
    const auto start = Clock::now();
    for (int64_t r = 0; r < rounds; ++r) sink = sink + read_all(data, quarter);
    const double t = std::chrono::duration<double>(Clock::now() - start).count();
    if (t > 0) best = std::max(best, static_cast<double>(rounds * quarter * 32) / t);
  } while (Clock::now() < end);
  return best;
}

}  // namespace

double Roofline::bytes_per_s(double bytes) const {
  for (const Level& l : levels)
    if (bytes <= static_cast<double>(l.bytes)) return l.bytes_per_s;
  return levels.empty() ? 0 : levels.back().bytes_per_s;
}

double Roofline::least_seconds(double flops, double bytes) const {
  const double rate = bytes_per_s(bytes);
  return std::max(flop_per_s > 0 ? flops / flop_per_s : 0, rate > 0 ? bytes / rate : 0);
}

bool Roofline::memory_bound(double flops, double bytes) const { return flop_per_s <= 0 || bytes * flop_per_s > flops * bytes_per_s(bytes); }

Roofline measure_roofline(const runtime::ThreadPool& pool, double seconds) {
  const auto threads = static_cast<size_t>(pool.threads());
  Roofline roof;
  std::vector<double> rates(threads, 0);
  on_every_thread(pool, [&](int64_t t) { rates[static_cast<size_t>(t)] = measure_peak_flops(kPeakShare * seconds); });
  roof.flop_per_s = sum(rates);
  std::vector<runtime::AlignedBytes> memory(threads);
  const int64_t most = kLargest / static_cast<int64_t>(threads);
  on_every_thread(pool, [&](int64_t t) {
    auto& m = memory[static_cast<size_t>(t)];
    m = runtime::allocate_aligned(most);
    if (m) std::fill_n(m.get(), most, std::byte{1});  // pages that were never written would all be the same one
  });
  if (std::any_of(memory.begin(), memory.end(), [](const auto& m) { return m == nullptr; })) return roof;
  int levels = 0;
  for (int64_t bytes = kSmallest; bytes <= kLargest; bytes *= kGrowth) ++levels;
  for (int64_t bytes = kSmallest; bytes <= kLargest; bytes *= kGrowth) {
    const int64_t each = bytes / static_cast<int64_t>(threads);
    on_every_thread(pool, [&](int64_t t) {
      const auto i = static_cast<size_t>(t);
      rates[i] = level_read_rate(reinterpret_cast<const uint64_t*>(memory[i].get()), each, (1 - kPeakShare) * seconds / levels);
    });
    roof.levels.push_back({bytes, sum(rates)});
  }
  return roof;
}

Roofline gpu_roofline(const target::Gpu& gpu) {
  return {target::peak_flops(gpu), {{gpu.l2_bytes, gpu.l2_bytes_per_s}, {gpu.memory_bytes, gpu.memory_bytes_per_s * gpu.memory_efficiency}}};
}

}  // namespace tw::measure
