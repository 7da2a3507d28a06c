// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

/// Which of several choices a value on a whole grid depends on.
namespace tw {

/// Functional analysis of variance over a grid in which every point counts alike: the value as a sum of a mean, of effects of single choices, of what two choices do together beyond these, and so on; each has mean
/// zero and none goes with another, so that their variances add up.
/// Source: Hutter, Hoos, Leyton-Brown, "An efficient approach for assessing hyperparameter importance", ICML 2014.
struct GridVariance {
  struct Pair {
    size_t a = 0, b = 0;
    double share = 0;
  };
  double mean = 0, variance = 0;
  std::vector<std::vector<double>> means;  ///< of the values, of each choice at each of its places
  std::vector<double> single;              ///< share of the variance that each choice explains alone; 0 for a constant value, here and below
  std::vector<Pair> pairs;                 ///< that two of them explain beyond that, a < b in order; empty unless asked for
};
/// `values`: as many as the product of `sizes`, the first choice varies fastest.
GridVariance grid_variance(std::span<const size_t> sizes, std::span<const double> values, bool with_pairs);

}  // namespace tw
