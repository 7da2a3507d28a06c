// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/simplify_inference.h"

#include <cmath>

#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

/// The four statistics of a batch_norm node, or empty if one of them is not constant.
std::vector<const HostArray*> statistics(const Graph& g, const Node& n) {
  std::vector<const HostArray*> out;
  for (size_t i = 1; i < 5; ++i) {
    const auto& constant = g.values[static_cast<size_t>(n.inputs[i])].constant;
    if (!constant) return {};
    out.push_back(constant.get());
  }
  return out;
}

/// y = x * s + b with s = scale / sqrt(variance + epsilon) and b = bias - mean * s, one per channel.
Expected<void> unpack_batch_norm(Rewriter& rewrite, const Node& n, const std::vector<const HostArray*>& stats) {
  const TensorType& x = rewrite.old().values[static_cast<size_t>(n.inputs[0])].type;
  std::vector<int64_t> shape(x.shape.size() - 1, 1);
  shape[0] = x.shape[1];
  HostArray factor = HostArray::make(x.dtype, shape), offset = factor;
  const double epsilon = n.attrs.real("epsilon", 1e-5);
  for (int64_t c = 0; c < shape[0]; ++c) {
    const double s = stats[0]->get(c) / std::sqrt(stats[3]->get(c) + epsilon);
    factor.set(c, s);
    offset.set(c, stats[1]->get(c) - stats[2]->get(c) * s);
  }
  GraphBuilder& b = rewrite.builder();
  const int s = b.constant(n.name + ".factor", std::move(factor)), t = b.constant(n.name + ".offset", std::move(offset));
  TW_TRY(const std::vector<int> scaled, b.node("mul", {rewrite.value(n.inputs[0]), s}, {}, n.name + ".mul"));
  TW_TRY(const std::vector<int> shifted, b.node("add", {scaled[0], t}, {}, n.name + ".add"));
  b.rename(shifted[0], rewrite.old().values[static_cast<size_t>(n.outputs[0])].name);
  rewrite.replace(n.outputs[0], shifted[0]);
  return {};
}

}  // namespace

Expected<Graph> simplify_inference(const Graph& g, const Target&) {
  Rewriter rewrite(g);
  for (const Node& n : g.nodes) {
    rewrite.at(n);
    if (n.op == "identity" && rewrite.may_alias(n.outputs[0], rewrite.value(n.inputs[0]))) {
      rewrite.replace(n.outputs[0], rewrite.value(n.inputs[0]));
      continue;
    }
    if (n.op == "batch_norm")
      if (const auto stats = statistics(g, n); !stats.empty()) {
        TW_CHECK(unpack_batch_norm(rewrite, n, stats));
        continue;
      }
    TW_CHECK(rewrite.copy(n));
  }
  return std::move(rewrite).finish();
}

}  // namespace tw::graph
