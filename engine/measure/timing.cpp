// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw::measure {

namespace {

constexpr int kWarmUpCalls = 10;
constexpr double kWarmUpSeconds = 0.05, kWarmUpAgreement = 0.05;
constexpr int64_t kMaxInner = 1'000'000;
constexpr int kMaxGrowth = 10;
constexpr double kClockCosts = 1000;
constexpr int kMinSamples = 5;
constexpr double kStopAgreement = 0.02;
constexpr double kHopeless = 4, kSlow = 1.3;
constexpr double kFarOff = 8, kLongCall = 0.02;  // times the incumbent; seconds

double clock_cost(Probe& probe) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 20; ++i) {
    const double a = probe.now_s(), b = probe.now_s();
    best = std::min(best, b - a);
  }
  return std::max(best, 0.0);
}

double time_calls(Probe& probe, int64_t n) {
  const int64_t together = probe.prepares() ? 1 : n;
  double spent = 0;
  for (int64_t done = 0; done < n; done += together) {
    probe.prepare();
    const double start = probe.now_s();
    for (int64_t i = 0; i < together; ++i) probe.call();
    spent += probe.now_s() - start;
  }
  return spent;
}

double warm_up(Probe& probe, double last) {
  double spent = 0;
  for (int i = 0; i < kWarmUpCalls && spent < kWarmUpSeconds; ++i) {
    const double t = time_calls(probe, 1);
    spent += t;
    const bool agree = last > 0 && std::abs(t - last) <= kWarmUpAgreement * std::max(t, last);
    last = t;
    if (agree) break;
  }
  return last;
}

/// Calls per sample. Times of growing runs replace the estimate from single calls, which the clock's cost distorts.
int64_t choose_inner(Probe& probe, double call_s, double min_s) {
  int64_t n = 1;
  double t = call_s;
  while (t < min_s && n < kMaxInner) {
    const double want = t > 0 ? std::ceil(1.05 * static_cast<double>(n) * min_s / t) : static_cast<double>(kMaxInner);
    const int64_t next = std::clamp<int64_t>(static_cast<int64_t>(std::min(want, 1e9)), n + 1, std::min(n * kMaxGrowth, kMaxInner));
    n = next;
    t = time_calls(probe, n);
  }
  return n;
}

/// The samples without disturbances, fastest first.
std::vector<double> unflagged(const Timing& timing) {
  std::vector<double> out;
  for (size_t i = 0; i < timing.samples_s.size(); ++i) {
    if (!timing.flags[i]) out.push_back(timing.samples_s[i]);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool clearly_slow(const Timing& timing, double incumbent_s) {
  if (incumbent_s <= 0) return false;
  const std::vector<double> clean = unflagged(timing);
  if (!clean.empty() && clean[0] > kHopeless * incumbent_s) return true;
  return clean.size() >= 3 && clean[0] > kSlow * incumbent_s;
}

bool settled(const Timing& timing) {
  if (timing.samples_s.size() < kMinSamples) return false;
  const std::vector<double> clean = unflagged(timing);
  return clean.size() >= 3 && clean[2] <= clean[0] * (1 + kStopAgreement);
}

}  // namespace

bool far_off(double call_s, double incumbent_s) { return incumbent_s > 0 && call_s > std::max(kLongCall, kFarOff * incumbent_s); }

Timing time_kernel(Probe& probe, const TimingOptions& options) {
  if (far_off(options.last_call_s, options.incumbent_s))
    return {.samples_s = {options.last_call_s}, .flags = {false}, .inner = 1, .censored = true};
  const double min_sample = std::max(options.min_sample_s, kClockCosts * clock_cost(probe));
  const double call_s = warm_up(probe, options.last_call_s);
  Timing timing;
  timing.inner = static_cast<int>(choose_inner(probe, call_s, min_sample));
  double spent = 0;
  bool chosen_anew = false;
  const int most = options.samples > 0 ? options.samples : options.max_samples;
  for (int k = 1; k <= most; ++k) {
    const int64_t before = probe.disturbances();
    const double t = time_calls(probe, timing.inner);
    timing.flags.push_back(probe.disturbances() != before);
    timing.samples_s.push_back(t / timing.inner);
    spent += t;
    if (t < min_sample / 2 && timing.inner < kMaxInner && !chosen_anew) {
      // The number of calls was chosen from disturbed ones.
      chosen_anew = true;
      timing.inner = static_cast<int>(choose_inner(probe, t / timing.inner, min_sample));
      timing.samples_s.clear();
      timing.flags.clear();
      k = 0;
      continue;
    }
    if (clearly_slow(timing, options.incumbent_s)) {
      timing.censored = true;
      break;
    }
    if ((options.samples == 0 && settled(timing)) || (spent >= options.budget_s && k >= 2)) break;
  }
  return timing;
}

}  // namespace tw::measure
