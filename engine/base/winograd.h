// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tw {

/// Matrices of the minimal filtering algorithm F(m, r): m outputs of a filter of r taps from m + r - 1 inputs, with as many multiplications:
/// y = at · ((g · taps) ⊙ (bt · inputs)).
/// The points are 0, 1, -1, 2, -2, 1/2, -1/2 and infinity, as many as needed: their small powers keep rounding errors low, and a point and its negative share
/// half of their sums.
/// Source: Winograd, Arithmetic complexity of computations, 1980; Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016.
struct Winograd {
  using Matrix = std::vector<std::vector<double>>;
  Matrix at;  ///< [m][m + r - 1]
  Matrix g;   ///< [m + r - 1][r]
  Matrix bt;  ///< [m + r - 1][m + r - 1]
};

/// m and r of at least 2 that 8 points suffice for.
bool winograd_exists(int64_t m, int64_t r);
Winograd winograd(int64_t m, int64_t r);

}  // namespace tw
