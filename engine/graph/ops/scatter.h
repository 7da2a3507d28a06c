// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/ops/support.h"

namespace tw::graph::ops {

/// A scatter seen from the result: for output position `o` and candidate update `r`, whether r lands on o, and its value.
/// Quadratic work, but every element of the result is computed on its own, in any order.
struct Scatter {
  te::Tensor data;
  Dims candidates;  ///< extents of r, in the order in which later updates win
  size_t rank;      ///< leading axes of the result that say whether r lands: an update is all that lies behind them
  std::function<Expr(const Indices& o, const Indices& r)> hits;  ///< reads the first `rank` of o alone
  std::function<Expr(const Indices& o, const Indices& r)> update;
};

/// Attribute `reduction` is none, add, mul, max or min.
Expected<void> check_reduction(const OpContext& c);
Tensors scatter(te::DagBuilder& b, const OpContext& c, const Scatter& s);

}  // namespace tw::graph::ops
