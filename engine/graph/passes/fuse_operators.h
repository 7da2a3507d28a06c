// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Numbers the nodes of each kernel. A node joins the group of the node that all uses of its result pass through (its immediate post-dominator), together with
/// everything on the way, if the kinds of operators allow it. A reshape whose dimensions cut across those before it joins nothing that computes by place. A
/// group holds at most 256 operators, and no expression of its kernel more than te::kMostWrittenNodes parts once every definition stands where it is read: a
/// chain of sums of each value with itself doubles with every operator.
Expected<Graph> fuse_operators(const Graph& g, const Target& target);

/// Why a result is handed from one kernel to another.
struct KernelBorder {
  int producer = -1, consumer = -1;  ///< nodes
  std::string reason;
};
/// Every such pair of a graph that fuse_operators would number, in node order.
std::vector<KernelBorder> kernel_borders(const Graph& g);

}  // namespace tw::graph
