// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/references.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/measure/peak.h"

namespace tw::measure {
namespace {

constexpr int kRuns = 5;
constexpr double kComputeSeconds = 2e-4;
constexpr size_t kWords = size_t{4} << 20;  ///< 32 MiB

double read_rate(const std::vector<uint64_t>& words) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = Clock::now();
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i + 4 <= words.size(); i += 4) a += words[i], b += words[i + 1], c += words[i + 2], d += words[i + 3];
    [[maybe_unused]] volatile uint64_t sink = a + b + c + d;
    const double t = std::chrono::duration<double>(Clock::now() - start).count();
    if (t > 0) best = std::max(best, static_cast<double>(words.size() * sizeof(uint64_t)) / t);
  }
  return best;
}

}  // namespace

References measure_references() {
  static const std::vector<uint64_t> words(kWords, 1);
  References r;
  for (int run = 0; run < kRuns; ++run) r.flop_per_s = std::max(r.flop_per_s, measure_peak_flops(kComputeSeconds));
  r.bytes_per_s = read_rate(words);
  return r;
}

}  // namespace tw::measure
