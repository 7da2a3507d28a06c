// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/graph/graph.h"
#include "engine/te/dag.h"

namespace tw::graph {

/// Nodes of a graph as one computation.
struct NodesDag {
  te::DagPtr dag;
  std::vector<int> inputs;   ///< value index of each placeholder, in order
  std::vector<int> op_node;  ///< per op of the dag the node that it is a part of; -1 for placeholders
};

/// Writes `nodes` (ascending) into one dag whose outputs are the values `outputs`. Values from outside become placeholders, constants with
/// Role::constant; placeholders that no expression reads (such as the target shape of a reshape) are left out.
/// An output that is a placeholder or named twice gets a copy. Errors: what the operators' to_te say, with the node's name.
Expected<NodesDag> to_dag(const Graph& g, std::span<const int> nodes, std::span<const int> outputs);
/// One node with all its outputs.
Expected<NodesDag> to_dag(const Graph& g, const Node& node);

}  // namespace tw::graph
