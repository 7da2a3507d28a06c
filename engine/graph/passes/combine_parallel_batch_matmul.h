// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// combine_parallel for `matmul`. Products with constant stacks of matrices; products with one constant matrix are dense layers by then.
Expected<Graph> combine_parallel_batch_matmul(const Graph& g, const Target& target);

}  // namespace tw::graph
