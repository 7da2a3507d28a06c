// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

/// How well one list of numbers puts things into the order of another. Both lists have the same length; 0 where it is below 2 or a list is constant.
namespace tw {

/// The linear correlation of the ranks, ties with their mean rank: 1 for the same order, -1 for the opposite one.
/// Source: Spearman, "The proof and measurement of association between two things", 1904.
double spearman(std::span<const double> a, std::span<const double> b);

/// Pairs in the same order less those in the opposite one, as a share of all, corrected for ties (tau-b). Takes n² steps.
/// Source: Kendall, "The treatment of ties in ranking problems", 1945.
double kendall(std::span<const double> a, std::span<const double> b);

}  // namespace tw
