// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/base/curve_band.h"
#include "engine/records/round.h"

/// How a session's estimate of its network falls, round by round, on the clock that a comparison is about.
namespace tw::cli::bench {

/// What time a round is over at. A simulated device measures in no time, so each trial is charged what a stated one would take it.
struct TuningClock {
  double trial_s = 0;  ///< of building and measuring a trial; 0: what they took

  /// Of a session's rounds, the first `count`: searching and, as charged or as it was, the rest.
  double seconds(std::span<const records::Round> rounds, size_t count) const;
};

struct NetworkCurve {
  struct Point {
    int64_t trials = 0;    ///< of the session
    double seconds = 0;    ///< by the clock
    double network_s = 0;  ///< estimate: sum of weight x best over the tasks
  };
  std::vector<Point> points;  ///< of the rounds after which there is an estimate
  double search_s = 0, wall_s = 0;

  bool empty() const { return points.empty(); }
  /// The first point whose estimate is at most `network_s`.
  std::optional<Point> reaching(double network_s) const;
  enum class Over : uint8_t { trials, seconds };
  StepCurve steps(Over axis) const;
};
NetworkCurve network_curve(std::span<const records::Round> rounds, const TuningClock& clock);

}  // namespace tw::cli::bench
