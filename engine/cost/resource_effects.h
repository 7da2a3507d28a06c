// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"

/// How a kernel's speed follows from its resources: knobs of its schedule, facts of its target, sizes of its shape.
namespace tw::cost {

struct Resource {
  std::string name;
  std::vector<double> values;       ///< ascending where they are numbers; else 0, 1, ...
  std::vector<std::string> labels;  ///< one for each
  bool numbers = true;              ///< has an axis, so that knees and crossings mean something
};

/// Trials over resources.
struct ResourceTable {
  struct Row {
    std::vector<size_t> at;  ///< for each resource the place of its value
    double speed = 0;        ///< any unit, above 0
  };
  std::vector<Resource> resources;
  std::vector<Row> rows;
};

/// Speed over the values of one resource, with an interval that holds nine of ten refits to resampled trials; it always holds `middle`.
struct ResourceCurve {
  std::vector<double> middle, low, high;
  std::vector<std::vector<double>> refits;  ///< the curves that the interval is of
};
/// Where more of a resource begins to bring less (base/knee.h), over the logarithm of values that span a factor of eight or more. None where the intervals of the
/// first and of the greatest speed meet.
struct ResourceKnee {
  double at = 0, low = 0, high = 0;  ///< values of the resource; the middle nine tenths of the refits that have one
  double share = 0;                  ///< of the refits that have one
};
struct ResourceEffect {
  ResourceCurve slice;    ///< all others as the fastest trial has them, as the trees say
  ResourceCurve partial;  ///< partial dependence: geometric mean over all values of the others, as the trees say
  ResourceCurve best;     ///< the fastest trial that has the value; 0 where none has
  std::vector<double> measured;  ///< of the slice where there is such a trial; else 0
  std::vector<std::optional<size_t>> best_row, measured_row;  ///< the trials of `best` and `measured`: rows of the table
  std::optional<ResourceKnee> slice_knee, partial_knee, best_knee;
  double importance = 0, importance_low = 0, importance_high = 0;  ///< share of the variance of log speed that it explains alone
};
struct ResourcePair {
  size_t a = 0, b = 0;
  double share = 0;  ///< of that variance, beyond what both explain alone
};
struct ResourceEffects {
  std::vector<ResourceEffect> effects;  ///< one for each resource
  std::vector<ResourcePair> pairs;      ///< all of them, the largest share first
  size_t fastest = 0;                   ///< row
  double r_squared = 0;                 ///< of log speed on trials that a refit did not see: how far the trees can be trusted; 1 is perfect
  size_t grid_points = 0;               ///< over which partial dependence and importance are means
};

struct EffectOptions {
  int refits = 40;
  uint64_t seed = 1;
  int threads = 1;
  size_t most_points = 1 << 13;  ///< of the grid; above, every other value of the resource that has most is left out of it, and comes to its neighbour's partial dependence
};

/// Fits boosted trees to the logarithm of speed over all trials, and again to as many drawn with replacement. Partial dependence and importance are over the grid of all values, each point alike; what no trial has, trees
/// say. Same input, same result. Errors: invalid_argument for fewer than 8 rows or without resources of two values; resource_limit for more resources than a grid can
/// be made of; cancelled; internal.
/// Sources: Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001 (partial dependence); Efron, "Bootstrap methods", 1979; base/grid_variance.h.
Expected<ResourceEffects> resource_effects(const ResourceTable& table, const EffectOptions& options, const StopToken& stop = {});

/// Where a second curve overtakes a first, or falls behind, along an axis that both have.
struct Crossing {
  double at = 0, low = 0, high = 0;  ///< values of the axis: between two neighbours on a line; the middle nine tenths of pairs of refits that change sides between the same winners
  double share = 0;                  ///< of the pairs of refits that do
  bool second_wins = false;          ///< from there on
};
/// `values` ascend. Speeds of 0 are missing and passed over.
std::vector<Crossing> crossings(const std::vector<double>& values, const ResourceCurve& first, const ResourceCurve& second);

}  // namespace tw::cost
