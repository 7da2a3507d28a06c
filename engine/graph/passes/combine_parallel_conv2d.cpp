// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/combine_parallel_conv2d.h"

#include "engine/graph/passes/combine_parallel.h"

namespace tw::graph {

namespace {

bool ungrouped(const Graph&, const Node& n) { return n.attrs.integer("groups", 1) == 1; }

}  // namespace

Expected<Graph> combine_parallel_conv2d(const Graph& g, const Target&) { return combine_parallel(g, {"conv2d", 0, false, ungrouped}); }

}  // namespace tw::graph
