// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <set>
#include <vector>

#include "engine/graph/graph.h"
#include "widgets/graph/graph_scene.h"

namespace tw::widgets {

/// The parts that the paths of modules spell, or the names of a graph's nodes where the model tells no modules: `layer1.0.conv1` and `layer1.0.relu` lie in
/// block `layer1.0`, and that in `layer1`. Parts are separated by slashes, or by dots if there is no slash. A block has at least two nodes, and more of them than any block inside it.
struct GraphBlocks {
  struct Block {
    QString name;            ///< the whole prefix
    int parent = 0;          ///< of the root itself: -1
    std::vector<int> nodes;  ///< all nodes inside, ascending
    int like = 0;            ///< the first block that computes the same: equal operators, attributes and types, connected alike; itself if it is the first
    int alike = 1;           ///< blocks that compute the same, this one included
  };
  std::vector<Block> blocks;  ///< the root, which holds everything, first; a block after its parent
  std::vector<int> blockOf;   ///< per node, the innermost
};
GraphBlocks graphBlocks(const graph::Graph& graph);
/// The innermost block around `node` that is open, or around the closed block `box` if that is not -1; 0 if only the root is.
int openBlockAround(const GraphBlocks& blocks, const std::set<int>& open, int node, int box = -1);

/// What is drawn while the blocks in `open` show their insides: closed blocks as one box each, open ones as frames around what lies directly in them. The root
/// is always open, frames lie in frames. One that reads its own output through what lies outside of it is left out of the drawing.
GraphGrouping groupingOf(const GraphBlocks& blocks, const std::set<int>& open);

}  // namespace tw::widgets
