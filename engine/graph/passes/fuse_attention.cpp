// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/fuse_attention.h"

#include <algorithm>

#include "engine/graph/op.h"

namespace tw::graph {

namespace {

class Attentions {
 public:
  explicit Attentions(const Graph& g) : g_(g), readers_(g.consumers()) {}

  /// The groups that are one attention around a softmax: of the scores, of the softmax and of the product with the values. Empty if it is in none.
  std::vector<int> groups_around(const Node& softmax) const {
    const Shape& scores = shape(softmax.inputs[0]);
    if (softmax.op != "softmax" || scores.size() < 2 || type(softmax.inputs[0]).dtype != kFloat32) return {};
    const auto rank = static_cast<int64_t>(scores.size());
    if (const int64_t axis = softmax.attrs.integer("axis", -1); axis != -1 && axis != rank - 1) return {};
    const int values = only_reader(softmax.outputs[0]);
    if (values < 0 || !is_product(values, softmax.outputs[0])) return {};
    const int rows = softmax.group, last = node(values).group;
    if (rows < 0 || last < 0 || rows == last) return {};
    const int first = group_of_scores(rows, scores);
    return first < 0 || first == last ? std::vector<int>{} : std::vector{first, rows, last};
  }

 private:
  using Shape = std::vector<int64_t>;
  const Node& node(int n) const { return g_.nodes[static_cast<size_t>(n)]; }
  const TensorType& type(int v) const { return g_.values[static_cast<size_t>(v)].type; }
  const Shape& shape(int v) const { return type(v).shape; }

  /// The node that alone reads a value, which no caller reads; -1 if there is none.
  int only_reader(int v) const {
    const std::vector<int>& all = readers_[static_cast<size_t>(v)];
    const bool one = !all.empty() && std::all_of(all.begin(), all.end(), [&](int n) { return n == all.front(); });
    return one && std::find(g_.outputs.begin(), g_.outputs.end(), v) == g_.outputs.end() ? all.front() : -1;
  }

  /// Whether a node is the product of weights, one row for each query, with values of another origin, batch entry by batch entry.
  bool is_product(int n, int weights) const {
    const Node& p = node(n);
    if (p.op != "matmul" || p.attrs.integer("transpose_b", 0) != 0 || p.inputs[0] != weights || p.inputs[1] == weights) return false;
    const Shape &from = shape(weights), &to = shape(p.outputs[0]);
    return from.size() == to.size() && std::equal(from.begin(), from.end() - 1, to.begin()) && !g_.values[static_cast<size_t>(p.inputs[1])].constant;
  }

  /// The group of one product of two activations and elementwise work after it, whose result the softmax's group alone reads, element by element too.
  int group_of_scores(int rows, const Shape& scores) const {
    int found = -1;
    for (const Node& n : g_.nodes) {
      if (n.group != rows) continue;
      if (n.op != "softmax" && !is_elementwise(n)) return -1;
      for (const int v : n.inputs) {
        const int from = v < 0 || shape(v) != scores ? -1 : g_.values[static_cast<size_t>(v)].producer;
        const int group = from < 0 ? -1 : node(from).group;
        if (group < 0 || group == rows || group == found || !are_scores(group, scores) || !stays_within(v, rows)) continue;
        if (found >= 0) return -1;
        found = group;
      }
    }
    return found;
  }

  static bool is_elementwise(const Node& n) {
    const OpDef* def = find_op(n.op);
    return def && def->fusion <= FusionKind::broadcast;
  }

  bool stays_within(int v, int group) const {
    const std::vector<int>& all = readers_[static_cast<size_t>(v)];
    return std::all_of(all.begin(), all.end(), [&](int n) { return node(n).group == group; }) &&
           std::find(g_.outputs.begin(), g_.outputs.end(), v) == g_.outputs.end();
  }

  bool are_scores(int group, const Shape& scores) const {
    int products = 0;
    for (const Node& n : g_.nodes) {
      if (n.group != group || is_elementwise(n)) continue;
      const bool constant = std::any_of(n.inputs.begin(), n.inputs.end(), [&](int v) { return g_.values[static_cast<size_t>(v)].constant != nullptr; });
      if (n.op != "matmul" || n.attrs.integer("transpose_b", 0) != 0 || constant || n.inputs[0] == n.inputs[1] || shape(n.outputs[0]) != scores) return false;
      ++products;
    }
    return products == 1;
  }

  const Graph& g_;
  const std::vector<std::vector<int>> readers_;
};

}  // namespace

Expected<Graph> fuse_attention(const Graph& g, const Target& target) {
  if (target.gpu) return g;
  Graph out = g;
  for (const Node& n : g.nodes) {
    if (n.op != "softmax") continue;
    const Attentions attentions(out);
    const std::vector<int> groups = attentions.groups_around(out.nodes[static_cast<size_t>(&n - g.nodes.data())]);
    for (Node& member : out.nodes)
      if (std::find(groups.begin(), groups.end(), member.group) != groups.end()) member.group = groups.back();
  }
  return out;
}

}  // namespace tw::graph
