// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace tw::measure {

namespace {

#if defined(__x86_64__) || defined(__aarch64__)

constexpr int kAccumulators = 12;  ///< latency times issue width of all processors so far, and within 16 registers
constexpr int64_t kRounds = 4000;

struct Loop {
  float (*run)();
  double flops;  ///< of one run
};
constexpr double kSteps = static_cast<double>(kRounds) * kAccumulators;

#endif

#if defined(__x86_64__)

// Each function runs kRounds times kAccumulators multiply-adds and returns a value that depends on all of them.

__attribute__((target("avx512f"))) float run_avx512() {
  __m512 acc[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i) acc[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 a = _mm512_set1_ps(0.999F), b = _mm512_set1_ps(0.001F);
  for (int64_t n = 0; n < kRounds; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < kAccumulators; ++i) acc[i] = _mm512_fmadd_ps(acc[i], a, b);
  }
  float sum = 0;
  for (int i = 0; i < kAccumulators; ++i) sum += _mm512_cvtss_f32(acc[i]);
  return sum;
}

__attribute__((target("avx2,fma"))) float run_avx2() {
  __m256 acc[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i) acc[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 a = _mm256_set1_ps(0.999F), b = _mm256_set1_ps(0.001F);
  for (int64_t n = 0; n < kRounds; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < kAccumulators; ++i) acc[i] = _mm256_fmadd_ps(acc[i], a, b);
  }
  float sum = 0;
  for (int i = 0; i < kAccumulators; ++i) sum += _mm256_cvtss_f32(acc[i]);
  return sum;
}

float run_sse() {
  __m128 acc[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i) acc[i] = _mm_set1_ps(static_cast<float>(i));
  const __m128 a = _mm_set1_ps(0.999F), b = _mm_set1_ps(0.001F);
  for (int64_t n = 0; n < kRounds; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < kAccumulators; ++i) acc[i] = i % 2 == 0 ? _mm_mul_ps(acc[i], a) : _mm_add_ps(acc[i], b);
  }
  float sum = 0;
  for (int i = 0; i < kAccumulators; ++i) sum += _mm_cvtss_f32(acc[i]);
  return sum;
}

Loop best_loop() {
  if (__builtin_cpu_supports("avx512f")) return {&run_avx512, kSteps * 16 * 2};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {&run_avx2, kSteps * 8 * 2};
  return {&run_sse, kSteps * 4};
}

#elif defined(__aarch64__)

/// Of all accumulators, as above.
float run_neon() {
  float32x4_t acc[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i) acc[i] = vdupq_n_f32(static_cast<float>(i));
  const float32x4_t a = vdupq_n_f32(0.999F), b = vdupq_n_f32(0.001F);
  for (int64_t n = 0; n < kRounds; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < kAccumulators; ++i) acc[i] = vfmaq_f32(b, acc[i], a);
  }
  float sum = 0;
  for (int i = 0; i < kAccumulators; ++i) sum += vgetq_lane_f32(acc[i], 0);
  return sum;
}

Loop best_loop() { return {&run_neon, kSteps * 4 * 2}; }

#endif

}  // namespace

double measure_peak_flops(double seconds) {
#if defined(__x86_64__) || defined(__aarch64__)
  using Clock = std::chrono::steady_clock;
  const Loop loop = best_loop();
  double best = 0;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  [[maybe_unused]] volatile float sink = 0;
  do {
    const auto start = Clock::now();
    sink = loop.run();
    const double t = std::chrono::duration<double>(Clock::now() - start).count();
    if (t > 0) best = std::max(best, loop.flops / t);
  } while (Clock::now() < end);
  return best;
#else
  (void)seconds;
  return 0;
#endif
}

double peak_of(const Target& target) { return target.gpu ? target::peak_flops(*target.gpu) : measure_peak_flops(0.25) * target.cores; }

}  // namespace tw::measure
