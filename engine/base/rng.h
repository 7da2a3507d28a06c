// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace tw {

/// Small splittable generator, the same sequence on every machine.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64).
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// As if next() had been called so many times.
  void skip(uint64_t count) { state_ += count * 0x9e3779b97f4a7c15ULL; }
  /// Uniform in [0, n), n >= 1, without modulo bias.
  uint64_t uniform(uint64_t n) {
    const uint64_t limit = ~uint64_t{0} - (~uint64_t{0} % n + 1) % n;
    uint64_t x = next();
    while (x > limit) x = next();
    return x % n;
  }
  /// Uniform in [lo, hi], both ends included.
  int64_t range(int64_t lo, int64_t hi) { return lo + static_cast<int64_t>(uniform(static_cast<uint64_t>(hi - lo) + 1)); }
  /// Uniform in [0, 1).
  double uniform_real() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Standard normal (Box-Muller).
  double normal() {
    const double u = 1.0 - uniform_real();
    const double v = uniform_real();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
  }
  /// A generator whose sequence is independent of what this one yields next.
  Rng split() { return Rng(next()); }

 private:
  uint64_t state_;
};

}  // namespace tw
