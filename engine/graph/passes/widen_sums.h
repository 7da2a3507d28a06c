// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

Expected<Graph> widen_sums(const Graph& g, const Target& target);

/// Widens operators that have such sums before their last step alone: means, norms, pools. Those would leave the range of float16 there (a mean of 1,000 values
/// of 100), and so may the number of what is added up.
Expected<Graph> widen_inner_sums(const Graph& g);
/// Whether it widens a node.
bool sums_halves_inside(const Graph& g, const Node& n);

}  // namespace tw::graph
