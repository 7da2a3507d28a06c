// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

/// Several curves that go in steps, such as the best so far of searches, as one.
namespace tw {

struct CurveStep {
  double x = 0, y = 0;  ///< y from x on
};
using StepCurve = std::vector<CurveStep>;  ///< ascending x; the last one says where the curve ends

/// Between the two nearest of sorted values; there is one at least. `q`: 0 to 1.
double quantile_of(std::span<const double> sorted, double q);

/// Median and quartiles at equal steps of x, from where all curves have begun to where the last one ends.
struct QuartileBand {
  std::vector<double> x, low, middle, high;
};
/// Empty if there are no curves, or one of them has no steps.
QuartileBand band_of(std::span<const StepCurve> curves, int steps = 200);

}  // namespace tw
