// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// Axes are an attribute until `kSince` and an operand from then on.
Results reduce(OnnxNode& n, const char* ours, int64_t since) {
  const int x = n.in(0);
  const Dims axes = n.axes(n.integers_either("axes", 1, since).value_or(Dims{}), n.rank(x));
  if (axes.empty() && n.integer("noop_with_empty_axes", 0)) return {n.emit("identity", {x})};
  return {n.emit(ours, {x}, attrs({{"axes", axes}, {"keepdims", n.integer("keepdims", 1)}}))};
}

Results sum(OnnxNode& n) { return reduce(n, "reduce_sum", 13); }
Results mean(OnnxNode& n) { return reduce(n, "reduce_mean", 18); }
Results prod(OnnxNode& n) { return reduce(n, "reduce_prod", 18); }
Results max(OnnxNode& n) { return reduce(n, "reduce_max", 18); }
Results min(OnnxNode& n) { return reduce(n, "reduce_min", 18); }
Results l1(OnnxNode& n) { return reduce(n, "reduce_l1", 18); }
Results l2(OnnxNode& n) { return reduce(n, "reduce_l2", 18); }
Results log_sum(OnnxNode& n) { return reduce(n, "reduce_log_sum", 18); }
Results log_sum_exp(OnnxNode& n) { return reduce(n, "reduce_log_sum_exp", 18); }
Results sum_square(OnnxNode& n) { return reduce(n, "reduce_sum_square", 18); }

Results arg(OnnxNode& n, const char* ours) {
  return {n.emit(ours, {n.in(0)},
                 attrs({{"axis", n.integer("axis", 0)}, {"keepdims", n.integer("keepdims", 1)}, {"select_last", n.integer("select_last_index", 0)}}))};
}
Results arg_max(OnnxNode& n) { return arg(n, "argmax"); }
Results arg_min(OnnxNode& n) { return arg(n, "argmin"); }

Results cum_sum(OnnxNode& n) {
  const Dims axis = n.integers_input(1, "the axis");
  if (axis.size() != 1) n.invalid("expected one axis");
  return {n.emit("cumsum", {n.in(0)},
                 attrs({{"axis", n.axis(axis[0], n.rank(n.in(0)))}, {"exclusive", n.integer("exclusive", 0)}, {"reverse", n.integer("reverse", 0)}}))};
}

Results top_k(OnnxNode& n) {
  const int x = n.in(0);
  const Dims k = n.opset() < 10 ? Dims{n.integer("k", 0)} : n.integers_input(1, "k");
  if (k.size() != 1) n.invalid("expected one number of elements");
  const graph::Attrs a =
      attrs({{"axis", n.axis(n.integer("axis", -1), n.rank(x))}, {"k", k[0]}, {"largest", n.opset() < 11 ? int64_t{1} : n.integer("largest", 1)}});
  const int indices = n.emit("top_k_indices", {x}, a);
  return {n.emit("gather_elements", {x, indices}, attrs({{"axis", n.axis(n.integer("axis", -1), n.rank(x))}})), indices};
}

constexpr OnnxOp kOps[] = {
    {"ArgMax", arg_max},
    {"ArgMin", arg_min},
    {"CumSum", cum_sum},
    {"ReduceL1", l1},
    {"ReduceL2", l2},
    {"ReduceLogSum", log_sum},
    {"ReduceLogSumExp", log_sum_exp},
    {"ReduceMax", max},
    {"ReduceMean", mean},
    {"ReduceMin", min},
    {"ReduceProd", prod},
    {"ReduceSum", sum},
    {"ReduceSumSquare", sum_square},
    {"TopK", top_k},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_reduce() { return kOps; }

}  // namespace tw::frontends
