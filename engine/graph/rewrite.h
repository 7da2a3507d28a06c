// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  void replace(int old_value, int new_value) { map_[static_cast<size_t>(old_value)] = new_value; }
  /// Copies a node with its inputs as they are now. Errors: of inference.
  Expected<void> copy(const Node& node);
  /// The new graph; outputs keep their names where their producers are nodes.
  Graph finish() &&;

  /// Whether uses of `output` (an old value) may be redirected to `input`: not if a graph output would then have no node of its own.
  bool may_alias(int output, int input) const;

 private:
  const Graph& old_;
  GraphBuilder builder_;
  std::vector<int> map_;  ///< old value -> new value, -1 while unknown
};

}  // namespace tw::graph
