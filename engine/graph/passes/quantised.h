// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "engine/graph/graph.h"

/// What quantisation leaves in a graph: whole numbers within limits.
namespace tw::graph {

/// The node that makes `v` if it applies `op`, else null.
const Node* made_by(const Graph& g, int v, std::string_view op);

/// The numbers that a value can have, which are whole.
struct WholeRange {
  double low, high;
};
bool is_whole(double v);
/// The smallest and largest element, if all are whole.
std::optional<WholeRange> whole_range(const HostArray& a);

/// A sum, or a difference, of a value and a constant.
struct Shifted {
  int data = -1;
  const HostArray* by = nullptr;
  bool subtracted = false;
};
std::optional<Shifted> shifted(const Graph& g, int v);

/// The range of a floating-point value that was rounded, moved by whole numbers and limited to whole ones, as quantisation does.
std::optional<WholeRange> quantised_range(const Graph& g, int v);

}  // namespace tw::graph
