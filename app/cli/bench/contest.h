// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"

/// Timing several programs by turns, so that a change of the machine meets all of them.
namespace tw::cli::bench {

struct Contender {
  std::string name;
  /// Seconds of one call, from some milliseconds of calls.
  std::function<Expected<double>()> sample;
  /// How long its threads may still spin for more work after a sample; the next one begins later, where there are several threads.
  std::chrono::milliseconds rest{12};
};

/// Median time in seconds of the calls of so long, the lower one of two; of at least one call, after one that does not count.
double median_call_s(const std::function<void()>& call, double seconds);

/// One sample with the latency between two processors just before and just after it, in seconds; 0 on one thread.
struct Sample {
  size_t contender = 0;
  double seconds = 0;
  double latency_before_s = 0, latency_after_s = 0;
};

/// Samples of every contender by turns, `rounds` of each after one that does not count. With several threads there is a pause before each sample, so that
/// threads of the one before that still spin disturb nobody, and the latency between the first two of `processors` is probed before and after it. Errors:
/// cancelled; what a contender says.
Expected<std::vector<Sample>> sample_by_turns(const std::vector<Contender>& contenders, int rounds, int threads, const std::vector<int>& processors,
                                              StopToken stop);

/// What the machine was like: ranges of latency with a clear step between them. Without probes there is one state.
class States {
 public:
  /// A state begins with the least latency that belongs to none and holds those up to 1.8 times that.
  explicit States(const std::vector<Sample>& samples);
  /// The state around a sample, or -1 if it changed meanwhile.
  int of(const Sample& s) const;
  int count() const { return static_cast<int>(ranges_.size()); }
  std::pair<double, double> range_s(int state) const { return ranges_[static_cast<size_t>(state)]; }
  static std::string name(int state) { return std::string(1, static_cast<char>('A' + state)); }

 private:
  std::vector<std::pair<double, double>> ranges_;
};

/// The least and the median time of each contender within one state: the one in which the contender with the fewest samples has most.
struct Standing {
  int state = -1;                        ///< -1: no state saw all of them
  std::vector<double> best_s, median_s;  ///< per contender; infinity without a state
};
Standing standing_of(const std::vector<Sample>& samples, size_t contenders, const States& states);

}  // namespace tw::cli::bench
