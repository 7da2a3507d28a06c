// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/fuse_transposes.h"

#include <algorithm>

#include "engine/graph/passes/constants.h"

namespace tw::graph {

namespace {

class Transposes {
 public:
  explicit Transposes(const Graph& g) : g_(g), readers_(g.consumers()) {}

  /// The group of the product whose second operand a transposition makes for it alone; -1 if it makes none.
  int product_of(const Node& t) const {
    if (t.op != "transpose" || t.group < 0 || members(t.group) != 1) return -1;
    const int v = t.outputs[0];
    const std::vector<int>& readers = readers_[static_cast<size_t>(v)];
    if (readers.size() != 1 || std::find(g_.outputs.begin(), g_.outputs.end(), v) != g_.outputs.end()) return -1;
    const Node& product = g_.nodes[static_cast<size_t>(readers.front())];
    const Value& made = g_.values[static_cast<size_t>(v)];
    const bool second = product.op == "matmul" && product.inputs[1] == v && product.inputs[0] != v && product.attrs.integer("transpose_b", 0) == 0;
    if (!second || made.type.dtype != kFloat32 || in_attention(product.group)) return -1;
    // So that blocks of rows can be turned in registers.
    return turns_rows(permutation(t.attrs, made.type.shape.size())) ? product.group : -1;
  }

 private:
  int64_t members(int group) const {
    return std::count_if(g_.nodes.begin(), g_.nodes.end(), [&](const Node& n) { return n.group == group; });
  }
  /// Whether a group is an attention: it reads its keys as they are turned for all queries.
  bool in_attention(int group) const {
    return std::any_of(g_.nodes.begin(), g_.nodes.end(), [&](const Node& n) { return n.group == group && n.op == "softmax"; });
  }

  const Graph& g_;
  const std::vector<std::vector<int>> readers_;
};

}  // namespace

Expected<Graph> fuse_transposes(const Graph& g, const Target& target) {
  if (target.gpu) return g;
  Graph out = g;
  const Transposes transposes(g);
  for (Node& t : out.nodes)
    if (const int group = transposes.product_of(t); group >= 0) t.group = group;
  return out;
}

}  // namespace tw::graph
