// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace tw::cost {

/// How well predictions find the best: for each k up to `top`, the share of the true best k among the k predicted best, averaged over k. 1 is perfect.
/// Higher is better in both spans; of equal values the earlier counts as better. Both have the same length; `top` is at most that length (larger is cut).
/// Source: AutoTVM 0.9's metric "a-recall" (Chen et al., NeurIPS 2018).
double average_recall(std::span<const double> truth, std::span<const float> predicted, int top);

}  // namespace tw::cost
