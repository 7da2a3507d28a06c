// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/base/rng.h"

/// Comparing two times that were taken by turns, on a machine whose speed changes.
namespace tw {

/// How two programs compare: time of b ÷ that of a, and the ends of its 95 % interval. A time is the lower quartile of its samples, since up to three quarters of
/// them may be disturbed, and they only ever get slower by it.
struct PairedRatio {
  double ratio = 1, low = 1, high = 1;

  bool surely_faster() const { return high < 1; }  ///< b than a
  bool surely_slower() const { return low > 1; }
};

/// Percentile bootstrap (Efron, 1979) with 1000 resamples of the pairs. `a` and `b` have one length, above 0.
PairedRatio paired_ratio(std::span<const double> a, std::span<const double> b, Rng& rng);

/// Samples of the parts of a program, which add up to its time: per part one in every round. A disturbance that hits one part leaves the others of its round.
using PartTimes = std::vector<std::vector<double>>;
/// The sum of the parts' lower quartiles.
double parts_time(const PartTimes& parts);

/// Rounds of two programs in one process.
struct PairedRounds {
  PartTimes a, b;  ///< the number of parts may differ, that of rounds not
};
/// The ratio over several processes. Where memory comes to lie differs between processes and stays in one, so that their rounds are not independent: the ratio
/// is the median of theirs, and the bootstrap draws processes first, then rounds in each. There are processes, and each has parts and rounds.
PairedRatio paired_ratio(std::span<const PairedRounds> processes, Rng& rng);

// Of at least one value.
double median_of(std::vector<double> values);  ///< the mean of both in the middle
double lower_quartile_of(std::vector<double> values);

}  // namespace tw
