// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/widen_sums.h"

#include <algorithm>
#include <map>

#include "engine/graph/expression.h"
#include "engine/graph/op.h"
#include "engine/graph/rewrite.h"
#include "engine/graph/to_dag.h"

namespace tw::graph {

namespace {

bool is_half(DType t) { return t.is_float() && t.bits == 16; }

/// Whether a node adds or multiplies up numbers of 16 bits, or does so before its last step. One's own definitions name their types, and stay as they are.
bool sums_halves(const Graph& g, const Node& n, bool inside) {
  if (n.op == kExpression) return false;
  const auto half = [&](int v) { return v >= 0 && is_half(g.values[static_cast<size_t>(v)].type.dtype); };
  if (std::none_of(n.outputs.begin(), n.outputs.end(), half) || std::none_of(n.inputs.begin(), n.inputs.end(), half)) return false;
  const auto dag = to_dag(g, n);
  if (!dag) return false;
  const std::vector<te::Op>& ops = dag->dag->ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    const bool sums = (ops[i].reducer == te::Reducer::sum || ops[i].reducer == te::Reducer::prod) && is_half(ops[i].output->dtype);
    const bool last = std::find(dag->dag->outputs.begin(), dag->dag->outputs.end(), static_cast<int>(i)) != dag->dag->outputs.end();
    if (sums && !(inside && last)) return true;
  }
  return false;
}

Attrs cast_to(DType t) {
  Attrs a;
  a.values["to"] = t.name();
  return a;
}

/// Widens the operands of nodes, each of them once.
class Widener {
 public:
  Widener(const Graph& g, bool inside) : g_(g), inside_(inside), rewrite_(g) {}

  Expected<Graph> run() && {
    for (const Node& n : g_.nodes) {
      rewrite_.at(n);
      if (!sums_halves(g_, n, inside_)) {
        TW_CHECK(rewrite_.copy(n));
        continue;
      }
      std::vector<int> inputs;
      for (const int v : n.inputs) {
        TW_TRY(const int wide, widened(v));
        inputs.push_back(wide);
      }
      GraphBuilder& b = rewrite_.builder();
      TW_TRY(const std::vector<int> sums, b.node(n.op, std::move(inputs), n.attrs, n.name, static_cast<int>(n.outputs.size())));
      for (size_t k = 0; k < sums.size(); ++k) {
        const Value& old = g_.values[static_cast<size_t>(n.outputs[k])];
        int result = sums[k];
        if (b.graph().values[static_cast<size_t>(result)].type.dtype != old.type.dtype) {
          b.rename(result, old.name + ".wide");
          TW_TRY(const std::vector<int> rounded, b.node("cast", {result}, cast_to(old.type.dtype), n.name + ".rounded"));
          result = rounded[0];
        }
        b.rename(result, old.name);
        rewrite_.replace(n.outputs[k], result);
      }
    }
    return std::move(rewrite_).finish();
  }

 private:
  Expected<int> widened(int v) {
    if (v < 0 || !is_half(g_.values[static_cast<size_t>(v)].type.dtype)) return rewrite_.value(v);
    if (const auto it = wide_.find(v); it != wide_.end()) return it->second;
    const Value& value = g_.values[static_cast<size_t>(v)];
    GraphBuilder& b = rewrite_.builder();
    if (value.constant) {
      HostArray wide = HostArray::make(kFloat32, value.type.shape);
      for (int64_t i = 0; i < wide.num_elements(); ++i) wide.set(i, value.constant->get(i));
      return wide_[v] = b.constant(value.name, std::move(wide));
    }
    TW_TRY(const std::vector<int> wide, b.node("cast", {rewrite_.value(v)}, cast_to(kFloat32), value.name + ".widened"));
    return wide_[v] = wide[0];
  }

  const Graph& g_;
  bool inside_;
  Rewriter rewrite_;
  std::map<int, int> wide_;  ///< old value to the new one in float32
};

}  // namespace

Expected<Graph> widen_sums(const Graph& g, const Target& target) {
  // The matrix units of GPUs want operands of 16 bits, and add up in float32 by themselves.
  if (std::none_of(g.values.begin(), g.values.end(), [](const Value& v) { return is_half(v.type.dtype); })) return g;
  return Widener(g, target.gpu.has_value()).run();
}

Expected<Graph> widen_inner_sums(const Graph& g) { return Widener(g, true).run(); }

bool sums_halves_inside(const Graph& g, const Node& n) { return sums_halves(g, n, true); }

}  // namespace tw::graph
