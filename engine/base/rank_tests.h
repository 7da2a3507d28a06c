// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

/// Comparing two samples by ranks, without assuming a distribution.
namespace tw {

/// Mann-Whitney U test of two independent samples, two-sided.
/// Source: Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than the other", 1947.
struct MannWhitney {
  double u = 0;        ///< pairs (a, b) with a > b, ties count one half
  double p = 1;        ///< probability of a U at least as far from its mean if both came from one distribution
  bool exact = false;  ///< counted over all arrangements; else the normal approximation with corrections for ties and continuity
};
/// Exact without ties up to 20 values on each side. p is 1 if a sample is empty.
MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

/// Where the middle of differences lies, if they are as likely on the one side of it as on the other: of independent differences, however they are distributed.
/// Source: Wilcoxon, "Individual comparisons by ranking methods", 1945; Hodges and Lehmann, "Estimates of location based on rank tests", 1963.
struct SignedRanks {
  double middle = 0;         ///< the median of the means of all pairs
  double low = 0, high = 0;  ///< it lies below `low`, and above `high`, with the probability `tail` at most, counted over all signs
};
/// Of at least rank_differences(tail) differences.
SignedRanks signed_ranks(std::span<const double> differences, double tail);
/// How many differences an interval takes: if all are on one side, chance does as much with the probability 2^-n.
int rank_differences(double tail);

/// Vargha and Delaney's A12: the probability that a value of `a` is larger than one of `b`, ties count one half; 0.5 if a sample is empty.
/// Source: Vargha and Delaney, "A critique and improvement of the CL common language effect size statistics", 2000.
double vargha_delaney(std::span<const double> a, std::span<const double> b);

/// Whether differences of pairs lie around zero, two-sided: as likely as this are sums at least as large if every difference had either sign with the same chance.
/// Exact over all signs up to 20 differences, else over 100,000 drawn ones, always the same. 1 for none.
/// Source: Pitman, "Significance tests which may be applied to samples from any populations", 1937.
double paired_permutation(std::span<const double> differences);

/// Values of each sample that mann_whitney() needs so that a true A12 is found with the chance 0.8 when p below `level` counts; nothing if that takes more than `most`.
/// Source: Noether, "Sample size determination for some common nonparametric tests", 1987.
std::optional<int> samples_to_settle(double a12, double level, int most);

/// Holm's step-down correction: p-values adjusted for that many tests, in the order given.
/// Source: Holm, "A simple sequentially rejective multiple test procedure", 1979.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace tw
