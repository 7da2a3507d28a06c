// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/fold_constants.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/graph/evaluate.h"
#include "engine/graph/passes/constants.h"
#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

/// Results above this many elements are computed at run time unless their operands are as large: folding must not blow up the model.
constexpr int64_t kMaxGrowth = int64_t{1} << 22;

bool grows_too_much(const Graph& g, const Node& n) {
  int64_t in = 0, out = 0;
  for (const int v : n.inputs) in += v < 0 ? 0 : g.values[static_cast<size_t>(v)].type.num_elements();
  for (const int v : n.outputs) out += g.values[static_cast<size_t>(v)].type.num_elements();
  return out > kMaxGrowth && out > in;
}

/// A node is folded if it has operands, all of them constant, and none of its results is an output of the graph (which needs a node).
bool foldable(const Graph& g, const Node& n, const std::vector<std::shared_ptr<const HostArray>>& known) {
  if (n.inputs.empty() || grows_too_much(g, n)) return false;
  for (const int v : n.inputs)
    if (v >= 0 && !known[static_cast<size_t>(v)]) return false;
  return std::none_of(n.outputs.begin(), n.outputs.end(), [&](int v) { return std::find(g.outputs.begin(), g.outputs.end(), v) != g.outputs.end(); });
}

/// The node's results. Movements of whole weights, which importers leave behind, do not need the interpreter.
Expected<std::vector<HostArray>> results_of(const Graph& g, const Node& n, const std::vector<std::shared_ptr<const HostArray>>& operands) {
  if (n.op == "reshape") {
    HostArray a = *operands[0];
    a.shape = g.values[static_cast<size_t>(n.outputs[0])].type.shape;
    return std::vector{std::move(a)};
  }
  if (n.op == "transpose") return std::vector{transposed(*operands[0], permutation(n.attrs, operands[0]->shape.size()))};
  return evaluate_node(g, n, operands);
}

}  // namespace

Expected<Graph> fold_constants(const Graph& g, const Target&) {
  std::vector<std::shared_ptr<const HostArray>> known(g.values.size());
  for (size_t v = 0; v < g.values.size(); ++v) known[v] = g.values[v].constant;
  Rewriter rewrite(g);
  for (const Node& n : g.nodes) {
    if (!foldable(g, n, known)) {
      TW_CHECK(rewrite.copy(n));
      continue;
    }
    std::vector<std::shared_ptr<const HostArray>> operands;
    for (const int v : n.inputs) operands.push_back(v < 0 ? nullptr : known[static_cast<size_t>(v)]);
    TW_TRY(std::vector<HostArray> results, results_of(g, n, operands));
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      auto& value = known[static_cast<size_t>(n.outputs[i])];
      value = std::make_shared<const HostArray>(std::move(results[i]));
      rewrite.replace(n.outputs[i], rewrite.builder().constant(g.values[static_cast<size_t>(n.outputs[i])].name, value));
    }
  }
  // Constants that only folded nodes read are gone already; those of folded nodes that nothing reads stay until remove_dead_nodes.
  return std::move(rewrite).finish();
}

}  // namespace tw::graph
