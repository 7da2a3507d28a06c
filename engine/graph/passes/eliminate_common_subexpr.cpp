// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/eliminate_common_subexpr.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/graph/passes/constants.h"
#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

/// Constants up to this size are compared by content, larger ones by identity: equal scalars and shapes are common, equal weights are not.
constexpr int64_t kComparedElements = 4096;

/// What a node computes, in terms of values that stand for all equal ones.
using Computation = std::tuple<std::string, std::vector<int>, std::map<std::string, AttrValue>>;

class Representatives {
 public:
  explicit Representatives(const Graph& g) : of_(g.values.size()) {
    std::map<std::string, int> by_content;
    for (size_t v = 0; v < of_.size(); ++v) {
      of_[v] = static_cast<int>(v);
      const auto& constant = g.values[v].constant;
      if (constant && constant->num_elements() <= kComparedElements) of_[v] = by_content.emplace(constant_key(*constant), of_[v]).first->second;
    }
  }
  int of(int v) const { return v < 0 ? v : of_[static_cast<size_t>(v)]; }
  void merge(int v, int into) { of_[static_cast<size_t>(v)] = of(into); }

 private:
  std::vector<int> of_;
};

}  // namespace

Expected<Graph> eliminate_common_subexpr(const Graph& g, const Target&) {
  Rewriter rewrite(g);
  Representatives same(g);
  std::map<Computation, const Node*> seen;
  for (const Node& n : g.nodes) {
    std::vector<int> inputs;
    for (const int v : n.inputs) inputs.push_back(same.of(v));
    std::vector<int> operands = inputs;
    if (is_commutative(n.op)) std::sort(operands.begin(), operands.end());
    const auto [it, fresh] = seen.emplace(Computation{n.op, operands, n.attrs.values}, &n);
    const Node& first = *it->second;
    bool merged = !fresh && first.attrs == n.attrs && first.outputs.size() == n.outputs.size();  // NaN equals nothing
    for (size_t i = 0; merged && i < n.outputs.size(); ++i) merged = rewrite.may_alias(n.outputs[i], rewrite.value(first.outputs[i]));
    if (!merged) {
      Node copy = n;
      copy.inputs = inputs;
      TW_CHECK(rewrite.copy(copy));
      continue;
    }
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      rewrite.replace(n.outputs[i], rewrite.value(first.outputs[i]));
      same.merge(n.outputs[i], first.outputs[i]);
    }
  }
  return std::move(rewrite).finish();
}

}  // namespace tw::graph
