// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/rng.h"
#include "engine/measure/measure.h"
#include "engine/tune/candidate.h"
#include "engine/tune/session.h"

namespace tw::tune {

/// Wall time spent in each phase, in seconds.
struct PhaseTimes {
  double build_s = 0, measure_s = 0, search_s = 0, paused_s = 0;
};

/// Adds the time of its scope to `total`.
class ScopedTimer {
 public:
  explicit ScopedTimer(double& total);
  ~ScopedTimer();
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double& total_;
  double start_;
};

/// Builds and measures batches of one session; the two never overlap.
class BatchMeasurer {
 public:
  BatchMeasurer(measure::Builder& builder, measure::Runner& runner, StopToken stop, PhaseTimes& times)
      : builder_(builder), runner_(runner), stop_(stop), times_(times) {}

  /// One record per candidate, in order; refused ones fail to lower. What our machinery failed at is tried once more.
  /// `phase` is told "build" and "measure" as they begin, `moved` where each candidate is.
  std::vector<records::Record> measure(const records::Task& task, const std::vector<Proposal>& candidates, const measure::RunOptions& options,
                                       const std::function<void(const char*)>& phase, const measure::StageSink& moved = {});
  /// Results by candidate and round.
  using Results = std::vector<std::vector<records::MeasureResult>>;
  /// Builds once, then runs candidates in fresh processes round by round, in an order that is drawn in each. Three seeds of inputs take turns, the third with
  /// floats of uneven magnitudes. `next` says, from the results so far, which candidates run in the next round; none: that was all.
  /// Empty if it was stopped.
  Results compete(const records::Task& task, const std::vector<records::Candidate>& candidates, measure::RunOptions options,
                   const std::function<std::vector<size_t>(const Results&)>& next, Rng& order, const std::function<void(const char*)>& phase);

  /// Builder::points.
  std::optional<std::vector<int64_t>> points(const records::Task& task, const std::string& space) { return builder_.points(task, space); }

  Expected<measure::References> references() {
    const ScopedTimer timer(times_.measure_s);
    return runner_.references(stop_);
  }

 private:
  /// Measures the records at `chosen` and fills in their results.
  void measure_once(const records::Task& task, const std::vector<size_t>& chosen, std::vector<records::Record>& records, const measure::RunOptions& options,
                    const std::function<void(const char*)>& phase, const measure::StageSink& moved);

  measure::Builder& builder_;
  measure::Runner& runner_;
  StopToken stop_;
  PhaseTimes& times_;
};

/// Seconds of a clock that only goes forward.
double steady_s();

}  // namespace tw::tune
