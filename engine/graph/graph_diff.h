// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/graph/graph.h"

namespace tw::graph {

/// What became of a node from one graph to another that was made of it.
enum class NodeChange : uint8_t {
  same,
  changed,  ///< in both graphs, with another operator, attributes, types or operands, or it shares a kernel with others than before
  single,   ///< in one of the graphs only: removed, or made
};

/// Nodes are one if they have one name.
struct GraphDiff {
  std::vector<NodeChange> before, after;   ///< per node of each
  std::vector<int> after_of, before_of;    ///< per node of one graph, the same node in the other; -1 if there is none
  int made = 0, removed = 0, changed = 0;  ///< nodes
};
GraphDiff diff_graphs(const Graph& before, const Graph& after);

/// The line (0-based) of print(g) that a node stands in.
int line_of_node(const Graph& g, int node);

}  // namespace tw::graph
