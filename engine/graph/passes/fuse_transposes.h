// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Joins a transposition to the product of matrices that alone reads it, as its second operand, if it moves rows that lie in one piece. Only for processors, and
/// not into attentions; a graph without groups stays as it is.
Expected<Graph> fuse_transposes(const Graph& g, const Target& target);

}  // namespace tw::graph
