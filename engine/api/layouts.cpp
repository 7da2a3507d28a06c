// SPDX-License-Identifier: Apache-2.0
#include "engine/api/layouts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "engine/graph/op.h"

namespace tw::api {

bool keeps_layout(const graph::Graph& g, const graph::Group& group) {
  return std::all_of(group.nodes.begin(), group.nodes.end(), [&](int n) {
    const std::string& op = g.nodes[static_cast<size_t>(n)].op;
    const graph::FusionKind kind = graph::find_op(op)->fusion;
    return kind <= graph::FusionKind::broadcast || kind == graph::FusionKind::out_elementwise_fusable || op == "concat" || op == "slice" || op == "pad";
  });
}

bool reads_in_order(const graph::Graph& g, const graph::Group& group) {
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](int n) {
    const std::string& op = g.nodes[static_cast<size_t>(n)].op;
    return op == "top_k_indices" || op == "cumsum" || op == "cumprod" || op == "matmul" || op == "dense";
  });
}

bool works_in_rows(const graph::Graph& g, const graph::Group& group) {
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](int n) {
    const graph::Node& node = g.nodes[static_cast<size_t>(n)];
    if (!node.op.starts_with("conv")) return false;
    const int64_t groups = node.attrs.integer("groups", 1);
    const auto channels = [&](int value) { return g.values[static_cast<size_t>(value)].type.shape[1]; };
    return groups > 1 && (channels(node.inputs[0]) != groups || channels(node.outputs[0]) != groups);  // depthwise ones have a channel each
  });
}

bool takes_rows_apart(const graph::Graph& g, const graph::Group& group, const Layout& blocks) {
  const auto moves = [&](int n) {
    const std::string& op = g.nodes[static_cast<size_t>(n)].op;
    return op == "reshape" || op == "broadcast_to";
  };
  if (!std::all_of(group.nodes.begin(), group.nodes.end(), moves)) return false;
  const auto& from = g.values[static_cast<size_t>(group.inputs[0])].type.shape;
  const auto& to = g.values[static_cast<size_t>(group.outputs[0])].type.shape;
  for (const runtime::LayoutPiece& p : blocks) {
    if (p.factor == 0) continue;
    const int64_t row = std::accumulate(from.begin() + p.dim + 1, from.end(), int64_t{1}, std::multiplies<>());
    int64_t behind = 1;  // elements of the result behind one of its dimensions
    for (auto d = to.rbegin(); d != to.rend() && behind < row; ++d) behind *= *d;
    if (behind != row) return true;
  }
  return false;
}

bool reduces(const graph::Graph& g, const graph::Group& group) {
  return std::any_of(group.nodes.begin(), group.nodes.end(),
                     [&](int n) { return graph::find_op(g.nodes[static_cast<size_t>(n)].op)->fusion > graph::FusionKind::injective; });
}

bool steps_along_rows(const graph::Graph& g, const graph::Group& group) {
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](int n) {
    const graph::Node& node = g.nodes[static_cast<size_t>(n)];
    const std::vector<int64_t> steps = node.op == "slice" ? node.attrs.integers("steps", {}) : std::vector<int64_t>{};
    return !steps.empty() && steps.back() != 1;
  });
}

namespace {

/// The layout of what a group reads before its one reduction, whose result, perhaps after elementwise work, is to lie in `wanted`: the same blocks of a
/// dimension that is not reduced.
std::optional<Layout> before_reduction(const graph::Graph& g, const graph::Group& group, const Layout& wanted) {
  const graph::Node* reduction = nullptr;
  for (const int n : group.nodes) {
    const graph::Node& node = g.nodes[static_cast<size_t>(n)];
    if (node.op.starts_with("reduce_")) {
      if (std::exchange(reduction, &node) != nullptr) return std::nullopt;
    } else if (graph::find_op(node.op)->fusion > graph::FusionKind::broadcast) {
      return std::nullopt;
    }
  }
  if (reduction == nullptr) return std::nullopt;
  const size_t rank = g.values[static_cast<size_t>(reduction->inputs[0])].type.shape.size();
  std::vector<bool> reduced(rank, false);
  const std::vector<int64_t> axes = reduction->attrs.integers("axes", {});
  if (axes.empty()) return std::nullopt;  // over all of them
  for (const int64_t a : axes) reduced[static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(rank) : a)] = true;
  const bool keeps = reduction->attrs.integer("keepdims", 1) != 0;
  std::vector<int> from;  // dimension of the operand, by that of the result
  for (size_t d = 0; d < rank; ++d)
    if (keeps || !reduced[d]) from.push_back(static_cast<int>(d));
  if (from.size() != g.values[static_cast<size_t>(group.outputs[0])].type.shape.size()) return std::nullopt;
  Layout out;
  for (size_t d = 0; d < rank; ++d) out.push_back({static_cast<int>(d), 0});
  for (size_t k = 0; k < wanted.size(); ++k) {
    const runtime::LayoutPiece& p = wanted[k];
    if (p.dim < 0 || p.dim >= static_cast<int>(from.size())) return std::nullopt;
    if (p.factor == 0 && p.dim != static_cast<int>(k)) return std::nullopt;  // dimensions in another order
    if (p.factor == 0) continue;
    const int dim = from[static_cast<size_t>(p.dim)];
    if (reduced[static_cast<size_t>(dim)]) return std::nullopt;
    out.push_back({dim, p.factor});
  }
  return out.size() > rank ? std::optional(out) : std::nullopt;
}

}  // namespace

bool fits(const Layout& layout, const graph::TensorType& type) {
  std::vector<int64_t> inner(type.shape.size(), 1);
  std::vector<bool> seen(type.shape.size(), false);
  for (const runtime::LayoutPiece& p : layout) {
    if (p.dim < 0 || p.dim >= static_cast<int>(type.shape.size())) return false;
    seen[static_cast<size_t>(p.dim)] = true;
    if (p.factor) inner[static_cast<size_t>(p.dim)] *= p.factor;
  }
  for (size_t d = 0; d < inner.size(); ++d)
    if ((!layout.empty() && !seen[d]) || (type.shape[d] + inner[d] - 1) / inner[d] * inner[d] >= 2 * type.shape[d]) return false;
  return true;
}

std::vector<std::optional<Layout>> wanted_layouts(const graph::Graph& g, const graph::Partition& p,
                                                  const std::vector<std::optional<std::vector<Layout>>>& fixed) {
  std::vector<std::optional<Layout>> wanted(g.values.size());
  std::vector<bool> firm(g.values.size(), false);  // wanted by a kernel that can read nothing else: it comes before what others would pass on
  for (const int v : g.outputs) wanted[static_cast<size_t>(v)] = Layout{};
  for (size_t i = p.groups.size(); i-- > 0;) {
    const graph::Group& group = p.groups[i];
    std::optional<Layout> passed_on;
    if (!fixed[i] && group.outputs.size() == 1 && !works_in_rows(g, group)) {
      passed_on = wanted[static_cast<size_t>(group.outputs[0])];
      if (passed_on && !keeps_layout(g, group)) passed_on = before_reduction(g, group, *passed_on);
    }
    for (size_t k = 0; k < group.inputs.size(); ++k) {
      const graph::Value& value = g.values[static_cast<size_t>(group.inputs[k])];
      std::optional<Layout>& w = wanted[static_cast<size_t>(group.inputs[k])];
      auto is_firm = firm[static_cast<size_t>(group.inputs[k])];
      if (value.constant || is_firm) continue;
      if (fixed[i]) {
        w = (*fixed[i])[k];
        is_firm = true;
      } else if (!w && passed_on && !passed_on->empty() && fits(*passed_on, value.type)) {
        w = passed_on;
      }
    }
  }
  return wanted;
}

}  // namespace tw::api
