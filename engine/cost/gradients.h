// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/base/rng.h"

/// Derivatives of losses over candidates whose prediction is the sum of those of their rows. Boosting adds to every row by itself, so the second derivative that
/// a row gets is the candidate's times its rows: a bound with which rows that change together do not overshoot.
namespace tw::cost {

/// First and second derivative for each row.
struct RowGradients {
  std::vector<float> first, second;
};

/// Predictions of rows as sums, one for each candidate. `begins` as FeatureMatrix::begins.
std::vector<float> row_sums(std::span<const float> rows, std::span<const size_t> begins);

/// Of half the squared error, a candidate's weight being its label, but `least_weight` at least: what is fast counts more.
/// Source: the weighting is Ansor's (Zheng et al., OSDI 2020), with `least_weight` 0.
void squared_gradients(std::span<const float> sums, std::span<const double> labels, double least_weight, std::span<const size_t> begins, RowGradients& out);

/// Of the logistic loss over pairs of a group: each candidate against `pairs` others that are drawn anew in every round, weighted by how far their labels differ.
/// Source: Burges et al., "Learning to rank using gradient descent", ICML 2005 (RankNet).
void pair_gradients(std::span<const float> sums, std::span<const double> labels, std::span<const size_t> group_sizes, int pairs, Rng& rng,
                    std::span<const size_t> begins, RowGradients& out);

}  // namespace tw::cost
