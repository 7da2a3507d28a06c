// SPDX-License-Identifier: Apache-2.0
#include "engine/base/normal.h"

#include <algorithm>
#include <numbers>

// For several numbers at once loops have to be vectorised, and for that everything in them inlined, which is why there are built-in functions in them: those of
// headers have other options.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#endif

namespace tw {
namespace {

constexpr int kBlock = 128;  ///< numbers that are drawn together: their parts stay in the nearest cache
constexpr uint64_t kStep = 0x9e3779b97f4a7c15ULL;
/// How far a normal number by series may be from that by the library, with room: both are within some 1e-14 of the truth.
constexpr double kUnsure = 2e-13;

/// What Rng::next() makes of its state.
inline uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Whole numbers below 2^52 as double, without an instruction for it: their bits behind the exponent of 2^52.
inline double small_number(uint64_t n) { return __builtin_bit_cast(double, n | 0x4330000000000000ULL) - 0x1p52; }

/// Rng::uniform_real() of a mixed state.
inline double real_of(uint64_t z) {
  const uint64_t n = z >> 11;  // 53 bits, in two parts
  return (small_number(n >> 26) * 0x1p26 + small_number(n & 0x3ffffff)) * 0x1p-53;
}

/// The natural logarithm of a number in (0, 1]: of u = 2^e m with m from sqrt(1/2) to sqrt(2), and of m by the series of the inverse hyperbolic tangent of
/// (m - 1) / (m + 1), which has no error near 1.
inline double log_of(double u) {
  const auto bits = __builtin_bit_cast(uint64_t, u);
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdULL;
  const uint64_t shifted = bits - kRootHalf + 0x3ff0000000000000ULL;  // so that the exponent turns at sqrt(1/2)
  const double e = small_number(shifted >> 52) - 1023;
  const double m = __builtin_bit_cast(double, (shifted & 0xfffffffffffffULL) + kRootHalf);
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 1.0 / 21;
  sum = sum * z + 1.0 / 19, sum = sum * z + 1.0 / 17, sum = sum * z + 1.0 / 15, sum = sum * z + 1.0 / 13, sum = sum * z + 1.0 / 11;
  sum = sum * z + 1.0 / 9, sum = sum * z + 1.0 / 7, sum = sum * z + 1.0 / 5, sum = sum * z + 1.0 / 3;
  constexpr double kHigh = 0x1.62e42fefa38p-1, kLow = 0x1.ef35793c7673p-45;  // ln 2 in two parts
  return e * kHigh + (2 * s + (2 * s * z * sum + e * kLow));
}

/// cos(2 pi v) for v in [0, 1): of the nearest quarter turn, cosine or sine of what is left, by their series up to pi / 4.
inline double cosine_of_turns(double v) {
  const double turned = v * 4 + 0x1.8p52;  // the nearest whole number stands in its last bits
  const double quarter = turned - 0x1.8p52;
  const double x = (v - quarter * 0.25) * (2 * std::numbers::pi), z = x * x;
  double cosine = 1.0 / 20922789888000;  // 1 / 16!
  cosine = cosine * z - 1.0 / 87178291200, cosine = cosine * z + 1.0 / 479001600, cosine = cosine * z - 1.0 / 3628800, cosine = cosine * z + 1.0 / 40320;
  cosine = cosine * z - 1.0 / 720, cosine = cosine * z + 1.0 / 24, cosine = cosine * z - 1.0 / 2, cosine = cosine * z + 1;
  double sine = 1.0 / 355687428096000;  // 1 / 17!
  sine = sine * z - 1.0 / 1307674368000, sine = sine * z + 1.0 / 6227020800, sine = sine * z - 1.0 / 39916800, sine = sine * z + 1.0 / 362880;
  sine = sine * z - 1.0 / 5040, sine = sine * z + 1.0 / 120, sine = sine * z - 1.0 / 6, sine = sine * z + 1;
  sine *= x;
  // Quarter turns 0 to 4: cos, -sin, -cos, sin, cos. In bits, as a choice would be a jump.
  const auto n = __builtin_bit_cast(uint64_t, turned), odd = 0 - (n & 1), minus = ((n + 1) & 2) << 62;
  return __builtin_bit_cast(double, ((__builtin_bit_cast(uint64_t, sine) & odd) | (__builtin_bit_cast(uint64_t, cosine) & ~odd)) ^ minus);
}

/// kBlock numbers of the states that follow `state`; `sure` says whose float is decided.
__attribute__((always_inline)) inline void block(uint64_t state, double mean, double deviation, float* out, uint8_t* sure) {
  double u[kBlock], v[kBlock];
  for (int i = 0; i < kBlock; ++i) u[i] = 1.0 - real_of(mixed(state + static_cast<uint64_t>(2 * i + 1) * kStep));
  for (int i = 0; i < kBlock; ++i) v[i] = real_of(mixed(state + static_cast<uint64_t>(2 * i + 2) * kStep));
  for (int i = 0; i < kBlock; ++i) u[i] = -2.0 * log_of(u[i]);
  for (int i = 0; i < kBlock; ++i) u[i] = __builtin_sqrt(u[i]);
  for (int i = 0; i < kBlock; ++i) v[i] = cosine_of_turns(v[i]);
  const double unsure = kUnsure * __builtin_fabs(deviation);
  for (int i = 0; i < kBlock; ++i) {
    const double value = mean + deviation * (u[i] * v[i]), room = unsure + 4e-16 * __builtin_fabs(value);
    const auto low = static_cast<float>(value - room), high = static_cast<float>(value + room);
    out[i] = low;
    sure[i] = static_cast<uint8_t>((low == high) & (low != 0));  // zeros have a sign
  }
}

static_assert(sizeof(Rng) == sizeof(uint64_t));

using Block = void (*)(uint64_t, double, double, float*, uint8_t*);

void block_here(uint64_t state, double mean, double deviation, float* out, uint8_t* sure) { block(state, mean, deviation, out, sure); }
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target("avx2,fma"))) void block_avx2(uint64_t state, double mean, double deviation, float* out, uint8_t* sure) {
  block(state, mean, deviation, out, sure);
}
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,prefer-vector-width=512"))) void block_avx512(uint64_t state, double mean, double deviation, float* out, uint8_t* sure) {
  block(state, mean, deviation, out, sure);
}
Block block_of_this_machine() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) return block_avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? block_avx2 : block_here;
}
#else
Block block_of_this_machine() { return block_here; }
#endif

}  // namespace

void fill_normal(Rng& rng, double mean, double deviation, float* out, int64_t count) {
  static const Block draw = block_of_this_machine();
  float drawn[kBlock];
  uint8_t sure[kBlock];
  for (int64_t from = 0; from < count; from += kBlock) {
    const auto some = static_cast<int>(std::min<int64_t>(kBlock, count - from));
    const Rng begin = rng;
    draw(__builtin_bit_cast(uint64_t, begin), mean, deviation, drawn, sure);  // a generator is its state
    std::copy(drawn, drawn + some, out + from);
    for (int i = 0; i < some; ++i) {
      if (sure[i]) continue;
      Rng at = begin;
      at.skip(2 * static_cast<uint64_t>(i));
      out[from + i] = static_cast<float>(mean + deviation * at.normal());
    }
    rng.skip(2 * static_cast<uint64_t>(some));
  }
}

}  // namespace tw

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
