// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "engine/graph/graph.h"

namespace tw::graph {

/// Builds a changed copy of a graph: walk the old nodes in order and copy or replace each.
/// Inputs are copied at once; constants when something reads them, so that unread ones disappear. Names and groups are kept.
class Rewriter {
 public:
  explicit Rewriter(const Graph& old);

  const Graph& old() const { return old_; }
  GraphBuilder& builder() { return builder_; }
  /// The new index of an old value (-1 stays -1).
  int value(int old_value);
  /// Lets `new_value` stand for an old node's output.
  void replace(int old_value, int new_value);
  /// What is added from now on comes from where `node` comes from.
  void at(const Node& node) { builder_.set_origin(node.origin); }
  /// Copies a node with its inputs as they are now. Errors: of inference.
  Expected<void> copy(const Node& node);
  /// Whether the new graph has the old value; inputs and constants it always has.
  bool has(int old_value) const { return old_.values[static_cast<size_t>(old_value)].producer < 0 || map_[static_cast<size_t>(old_value)] >= 0; }
  /// Walks the old nodes: `rewrite` says whether it takes one over; what it leaves is copied, once `materialise` has made the operands that the new graph
  /// lacks. Graph outputs are made in the same way. Gives the new graph. Errors: of both, and of inference.
  Expected<Graph> run(const std::function<Expected<bool>(const Node&)>& rewrite, const std::function<Expected<void>(int)>& materialise) &&;
  /// The new graph; outputs keep their names where their producers are nodes.
  Graph finish() &&;

  /// Whether `new_value` may stand for an old value: not if a graph output would then have no node of its own.
  bool may_alias(int old_value, int new_value) const;

 private:
  const Graph& old_;
  GraphBuilder builder_;
  std::vector<int> map_;           ///< old value -> new value, -1 while unknown
  std::vector<bool> is_output_;    ///< per old value
  std::unordered_set<int> taken_;  ///< new values that stand for graph outputs
};

}  // namespace tw::graph
