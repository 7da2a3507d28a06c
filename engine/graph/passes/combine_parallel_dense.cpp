// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/combine_parallel_dense.h"

#include "engine/graph/passes/combine_parallel.h"

namespace tw::graph {

Expected<Graph> combine_parallel_dense(const Graph& g, const Target&) { return combine_parallel(g, {"dense", 0, false}); }

}  // namespace tw::graph
