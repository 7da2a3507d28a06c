// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/gradients.h"

#include <algorithm>
#include <cmath>

namespace tw::cost {
namespace {

/// Gives every row its candidate's derivatives.
void spread(std::span<const double> first, std::span<const double> second, std::span<const size_t> begins, RowGradients& out) {
  out.first.resize(begins.back());
  out.second.resize(begins.back());
  for (size_t c = 0; c + 1 < begins.size(); ++c) {
    const auto rows = static_cast<double>(begins[c + 1] - begins[c]);
    for (size_t r = begins[c]; r < begins[c + 1]; ++r) {
      out.first[r] = static_cast<float>(first[c]);
      out.second[r] = static_cast<float>(second[c] * rows);
    }
  }
}

}  // namespace

std::vector<float> row_sums(std::span<const float> rows, std::span<const size_t> begins) {
  std::vector<float> sums(begins.size() - 1);
  for (size_t c = 0; c < sums.size(); ++c) {
    double sum = 0;
    for (size_t r = begins[c]; r < begins[c + 1]; ++r) sum += rows[r];
    sums[c] = static_cast<float>(sum);
  }
  return sums;
}

void squared_gradients(std::span<const float> sums, std::span<const double> labels, double least_weight, std::span<const size_t> begins, RowGradients& out) {
  std::vector<double> first(sums.size()), second(sums.size());
  for (size_t c = 0; c < sums.size(); ++c) {
    second[c] = std::max(labels[c], least_weight);
    first[c] = (sums[c] - labels[c]) * second[c];
  }
  spread(first, second, begins, out);
}

void pair_gradients(std::span<const float> sums, std::span<const double> labels, std::span<const size_t> group_sizes, int pairs, Rng& rng,
                    std::span<const size_t> begins, RowGradients& out) {
  std::vector<double> first(sums.size(), 0.0), second(sums.size(), 0.0);
  size_t begin = 0;
  for (const size_t size : group_sizes) {
    for (size_t i = begin; size > 1 && i < begin + size; ++i) {
      for (int p = 0; p < pairs; ++p) {
        const size_t drawn = begin + rng.uniform(size - 1), j = drawn < i ? drawn : drawn + 1;
        const double weight = std::abs(labels[i] - labels[j]);
        if (weight == 0) continue;
        const size_t better = labels[i] > labels[j] ? i : j, worse = better == i ? j : i;
        const double wrong = 1 / (1 + std::exp(static_cast<double>(sums[better]) - sums[worse]));  // the model's probability of the wrong order
        const double curvature = weight * wrong * (1 - wrong);
        first[better] -= weight * wrong;
        first[worse] += weight * wrong;
        second[better] += curvature;
        second[worse] += curvature;
      }
    }
    begin += size;
  }
  spread(first, second, begins, out);
}

}  // namespace tw::cost
