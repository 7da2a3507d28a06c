// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "engine/tir/stmt.h"

namespace tw::tir {

/// One loop and where it stands.
struct LoopPlace {
  const ForNode* loop = nullptr;
  int level = 0;          ///< loops around it
  int64_t extent = -1;    ///< -1 if it is no constant
  double iterations = 1;  ///< of the nest from the outside up to and with this loop; a loop without a constant extent counts once
  size_t inside = 0;      ///< loops inside it; they follow it
};
/// The loops at and below a statement, in order of first appearance.
std::vector<LoopPlace> loops_of(const Stmt& s);

/// One loop, and what one run of it touches.
struct LoopFootprint : LoopPlace {
  /// Distinct elements of each array, in order of first appearance. Along each dimension they are the union of what all accesses touch, with what lies between;
  /// of several dimensions the product, so that an access along a diagonal counts too much.
  std::vector<std::pair<Buffer, double>> arrays;
};

/// Of all loops of a function as it was lowered, before passes, in order of first appearance.
std::vector<LoopFootprint> loop_footprints(const Func& lowered);

}  // namespace tw::tir
