// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Applies the rules of passes/rules to every node until none fits. What a rule jumps over stays until remove_dead_nodes if nothing else reads it.
Expected<Graph> simplify_expressions(const Graph& g, const Target& target);

}  // namespace tw::graph
