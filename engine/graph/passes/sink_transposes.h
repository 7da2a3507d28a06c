// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Moves transpositions behind what follows them, where they meet their opposites: networks from frameworks with channels last have one on either side of each
/// convolution and pool. Elementwise work, operators of two operands, concatenations, reductions, padding and softmax are computed in the order that the data
/// has, and reshapes whose dimensions lie beside each other in it; constants are turned ahead of time. The graph stays as it is where no element would be spared a move.
Expected<Graph> sink_transposes(const Graph& g, const Target& target);
/// The same, whether it spares moves or not.
Expected<Graph> with_sunk_transposes(const Graph& g);

}  // namespace tw::graph
