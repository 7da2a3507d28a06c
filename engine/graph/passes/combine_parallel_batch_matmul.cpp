// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/combine_parallel_batch_matmul.h"

#include "engine/graph/passes/combine_parallel.h"

namespace tw::graph {

namespace {

bool fits(const Graph& g, const Node& n) {
  const auto& stack = g.values[static_cast<size_t>(n.inputs[1])].type.shape;
  const auto& result = g.values[static_cast<size_t>(n.outputs[0])].type.shape;
  return stack.size() > 2 && result.size() >= stack.size();
}

}  // namespace

Expected<Graph> combine_parallel_batch_matmul(const Graph& g, const Target&) { return combine_parallel(g, {"matmul", 0, true, fits}); }

}  // namespace tw::graph
