// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/graph.h"

namespace tw::widgets {

class PropertyTree;

/// Adds everything about one node of a graph to the tree: operator, attributes, tensors with types.
void addNodeProperties(PropertyTree& tree, const graph::Graph& graph, int node);

}  // namespace tw::widgets
