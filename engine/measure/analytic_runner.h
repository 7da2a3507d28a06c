// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/measure/measure.h"

namespace tw::measure {

/// A machine that exists only as a formula, for tests of tuners: nothing is compiled or run, and the same seed gives the same times.
struct AnalyticOptions {
  uint64_t seed = 1;
  double noise = 0.02;  ///< standard deviation of a sample, relative; samples are never faster than the formula
  int samples = 5;
  double failure_rate = 0;  ///< share of candidates that fail to build, crash, time out or compute wrong values, by their content
  double peak_flop_per_s = 1e11;
  /// Replaces the formula: seconds of one run.
  std::function<double(const records::Task&, const records::Candidate&)> seconds;
};

/// Time of a candidate on the formula's machine: FLOPs at a fraction of the peak that falls with the distance of each split from 16 iterations.
double analytic_seconds(const records::Task& task, const records::Candidate& candidate, double peak_flop_per_s);

/// The artifacts of analytic_builder hold the candidate's time instead of code; only analytic_runner understands them.
std::unique_ptr<Builder> analytic_builder(AnalyticOptions options);
std::unique_ptr<Runner> analytic_runner(AnalyticOptions options);

}  // namespace tw::measure
