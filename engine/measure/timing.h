// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tw::measure {

/// What is timed, and with which clock; tests put a simulated machine here.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual void call() = 0;
  /// Whether there is something to prepare before every call, which is no part of its time.
  virtual bool prepares() const { return false; }
  virtual void prepare() {}
  virtual double now_s() = 0;
  /// How often this process was disturbed so far: involuntary context switches, and calls of this function since whose last a thread waited for a processor.
  virtual int64_t disturbances() = 0;
};

struct TimingOptions {
  double incumbent_s = 0;  ///< best time so far, 0 if none
  double min_sample_s = 200e-6;
  double budget_s = 0.15;  ///< of samples
  int max_samples = 40;
  int samples = 0;         ///< exactly so many, unless the budget ends; 0: until they agree
  bool warm = false;       ///< of a GPU: what the call before left in the caches stays there
  double last_call_s = 0;  ///< time of a call just before, the least if there were several, for the warm-up to compare with; 0 if none
};

struct Timing {
  std::vector<double> samples_s;  ///< each the mean of `inner` calls
  std::vector<bool> flags;        ///< the sample was disturbed
  int inner = 1;
  bool censored = false;  ///< stopped early as clearly slower than the incumbent
};

/// Whether one call says all that is asked for: it took over 20 ms, which no disturbance explains, and over 8 times the incumbent (0: there is none).
bool far_off(double call_s, double incumbent_s);

/// Warms up until two calls agree within 5 %, 10 calls or 50 ms; then picks how many calls make one sample (at least min_sample_s and 1000 times the cost of
/// the clock; at most 1e6; growing at most 10 times a step, so that a wrong first estimate cannot run away), once more if samples come out shorter than half of
/// that; then samples until the third best unflagged sample is within 2 % of the best (at least 5 of them), or 40 samples, or the budget is used up. With an
/// incumbent, stops after the first undisturbed sample if that is over 4 times slower, and after 3 unflagged ones if the best of them is over 1.3 times slower;
/// a call just before that is far off is all that is asked for. The minimum of unflagged samples orders candidates best on noisy machines; Halide's benchmark
/// uses the same stop rule with 3 %.
Timing time_kernel(Probe& probe, const TimingOptions& options);

}  // namespace tw::measure
