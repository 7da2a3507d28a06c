// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// combine_parallel for `dense`. Dense layers, such as the projections of an attention to queries, keys and values.
Expected<Graph> combine_parallel_dense(const Graph& g, const Target& target);

}  // namespace tw::graph
