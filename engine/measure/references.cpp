// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/references.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/measure/peak.h"

namespace tw::measure {
namespace {

constexpr int kFewestRuns = 5, kMostRuns = 20;
constexpr double kComputeSeconds = 2e-4, kComputeAgreement = 0.01, kMemoryAgreement = 0.05;
constexpr size_t kWords = size_t{4} << 20;  ///< 32 MiB

/// The best rate, once three agree with it: single passes over memory that other programs use as well are a third apart, the best of few of them a sixth.
template <typename Run>
double settled_rate(double agreement, const Run& run) {
  std::vector<double> rates;
  for (int runs = 1; runs <= kMostRuns; ++runs) {
    rates.push_back(run());
    std::sort(rates.begin(), rates.end(), std::greater<>());
    if (runs >= kFewestRuns && rates[2] >= rates[0] * (1 - agreement)) break;
  }
  return rates[0];
}

double read_rate(const std::vector<uint64_t>& words) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (size_t i = 0; i + 4 <= words.size(); i += 4) a += words[i], b += words[i + 1], c += words[i + 2], d += words[i + 3];
  [[maybe_unused]] volatile uint64_t sink = a + b + c + d;
  const double t = std::chrono::duration<double>(Clock::now() - start).count();
  return t > 0 ? static_cast<double>(words.size() * sizeof(uint64_t)) / t : 0;
}

}  // namespace

References measure_references() {
  static const std::vector<uint64_t> words(kWords, 1);
  return {settled_rate(kComputeAgreement, [] { return measure_peak_flops(kComputeSeconds); }),
          settled_rate(kMemoryAgreement, [] { return read_rate(words); })};
}

}  // namespace tw::measure
