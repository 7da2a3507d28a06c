// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/gpu_timing.h"

#include <algorithm>
#include <cmath>

#include "engine/base/clock.h"

namespace tw::measure {

namespace {

constexpr double kWarmUpSeconds = 0.01, kShortKernel = 20e-6, kSeriesSeconds = 200e-6, kAgreement = 1.01;
constexpr int kWarmUpCalls = 10, kMostInner = 200, kEnoughSamples = 5, kThirdBest = 2;

class GpuStopwatch {
 public:
  GpuStopwatch(runtime::GpuDevice& device, const std::function<Expected<void>()>& launch, bool warm) : device_(device), launch_(launch), warm_(warm) {}

  Expected<double> timed(const std::function<Expected<void>()>& work) {
    device_.forget_marks();
    TW_TRY(const int from, device_.mark());
    TW_CHECK(work());
    TW_TRY(const int to, device_.mark());
    TW_CHECK(device_.synchronize());
    return device_.seconds_between(from, to);
  }

  Expected<double> warm_up() {
    double last = 0, total = 0;
    for (int i = 0; i < kWarmUpCalls && total < kWarmUpSeconds; ++i) {
      TW_TRY(last, timed(launch_));
      total += last;
    }
    return last;
  }

  Expected<void> flush() {
    if (flushed_.bytes() == 0) {
      TW_TRY(flushed_, runtime::GpuArray::make(device_, 2 * std::max<int64_t>(device_.properties().l2_bytes, int64_t{1} << 20)));
    }
    return device_.fill(flushed_.at(), std::byte{0}, flushed_.bytes());
  }

  /// Makes the series that is one sample.
  Expected<void> prepare(int inner) {
    inner_ = inner;
    if (inner == 1) return {};
    TW_TRY(series_, device_.record([&] { return repeat(); }));
    return {};
  }

  Expected<double> sample() {
    if (!device_.simulated() && !warm_) TW_CHECK(flush());
    TW_TRY(const double seconds, timed([&] { return series_ ? device_.replay(*series_) : repeat(); }));
    return seconds / inner_;
  }

 private:
  Expected<void> repeat() {
    for (int i = 0; i < inner_; ++i) TW_CHECK(launch_());
    return {};
  }

  runtime::GpuDevice& device_;
  const std::function<Expected<void>()>& launch_;
  const bool warm_;
  runtime::GpuArray flushed_;
  std::unique_ptr<runtime::GpuRecording> series_;
  int inner_ = 1;
};

}  // namespace

Expected<Timing> time_on_gpu(runtime::GpuDevice& device, const std::function<Expected<void>()>& launch, const TimingOptions& options) {
  GpuStopwatch watch(device, launch, options.warm);
  TW_TRY(const double estimate, watch.warm_up());
  Timing out;
  const bool series = estimate < kShortKernel && !device.simulated();
  out.inner = series ? std::clamp(static_cast<int>(std::ceil(kSeriesSeconds / std::max(estimate, 1e-6))), 2, kMostInner) : 1;
  TW_CHECK(watch.prepare(out.inner));
  const double begin = clock_now_s(CLOCK_MONOTONIC);
  const int most = options.samples > 0 ? options.samples : options.max_samples;
  std::vector<double> sorted;
  while (static_cast<int>(out.samples_s.size()) < most) {
    TW_TRY(const double s, watch.sample());
    out.samples_s.push_back(s);
    out.flags.push_back(device.disturbed());
    if (!out.flags.back()) sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), s), s);
    const auto count = static_cast<int>(sorted.size());
    if (options.samples > 0) continue;
    if (clock_now_s(CLOCK_MONOTONIC) - begin > options.budget_s) break;
    if (count > 0 && options.incumbent_s > 0 && (sorted[0] > 4 * options.incumbent_s || (count >= 3 && sorted[0] > 1.3 * options.incumbent_s))) {
      out.censored = true;
      break;
    }
    if (count >= kEnoughSamples && sorted[kThirdBest] <= kAgreement * sorted[0]) break;
  }
  return out;
}

}  // namespace tw::measure
