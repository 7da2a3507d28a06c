// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// Axes are an attribute until `since` and an operand from then on. `alone`: what becomes of a single element, where there are no axes and that means none.
Results reduce(OnnxNode& n, const char* ours, int64_t since, const char* alone = "identity") {
  const int x = n.in(0);
  const Dims axes = n.axes(n.integers_either("axes", 1, since).value_or(Dims{}), n.rank(x));
  if (axes.empty() && n.integer("noop_with_empty_axes", 0)) return {n.emit(alone, {x})};
  const graph::Attrs a = attrs({{"axes", axes}, {"keepdims", n.integer("keepdims", 1)}});
  if (!n.dtype(x).is_bool()) return {n.emit(ours, {x}, a)};
  return {n.cast(n.emit(ours, {n.cast(x, kUInt8)}, a), kBool)};  // the largest is whether any holds, the smallest whether all do
}

Results sum(OnnxNode& n) { return reduce(n, "reduce_sum", 13); }
Results reduce_mean(OnnxNode& n) { return reduce(n, "reduce_mean", 18); }
Results prod(OnnxNode& n) { return reduce(n, "reduce_prod", 18); }
Results max(OnnxNode& n) { return reduce(n, "reduce_max", 18); }
Results min(OnnxNode& n) { return reduce(n, "reduce_min", 18); }
Results l1(OnnxNode& n) { return reduce(n, "reduce_l1", 18, "abs"); }
Results l2(OnnxNode& n) { return reduce(n, "reduce_l2", 18, "abs"); }
Results log_sum(OnnxNode& n) { return reduce(n, "reduce_log_sum", 18, "log"); }
Results log_sum_exp(OnnxNode& n) { return reduce(n, "reduce_log_sum_exp", 18); }
Results sum_square(OnnxNode& n) { return reduce(n, "reduce_sum_square", 18, "square"); }

Results arg(OnnxNode& n, const char* ours) {
  return {n.emit(ours, {n.in(0)},
                 attrs({{"axis", n.integer("axis", 0)}, {"keepdims", n.integer("keepdims", 1)}, {"select_last", n.integer("select_last_index", 0)}}))};
}
Results arg_max(OnnxNode& n) { return arg(n, "argmax"); }
Results arg_min(OnnxNode& n) { return arg(n, "argmin"); }

Results running(OnnxNode& n, const char* ours) {
  const Dims axis = n.integers_input(1, "the axis");
  if (axis.size() != 1) n.invalid("expected one axis");
  return {n.emit(ours, {n.in(0)},
                 attrs({{"axis", n.axis(axis[0], n.rank(n.in(0)))}, {"exclusive", n.integer("exclusive", 0)}, {"reverse", n.integer("reverse", 0)}}))};
}

Results cum_sum(OnnxNode& n) { return running(n, "cumsum"); }
Results cum_prod(OnnxNode& n) { return running(n, "cumprod"); }

Results top_k(OnnxNode& n) {
  const int x = n.in(0);
  const Dims k = n.opset() < 10 ? Dims{n.integer("k", 0)} : n.integers_input(1, "k");
  if (k.size() != 1) n.invalid("expected one number of elements");
  const graph::Attrs a =
      attrs({{"axis", n.axis(n.integer("axis", -1), n.rank(x))}, {"k", k[0]}, {"largest", n.opset() < 11 ? int64_t{1} : n.integer("largest", 1)}});
  const int indices = n.emit("top_k_indices", {x}, a);
  return {n.emit("gather_elements", {x, indices}, attrs({{"axis", n.axis(n.integer("axis", -1), n.rank(x))}})), indices};
}

/// Elimination with row exchanges, unrolled: the determinant is the product of the pivots.
Results det(OnnxNode& n) {
  constexpr int64_t kLargest = 32;
  const Dims shape = n.shape(n.in(0));
  const int64_t rank = n.rank(n.in(0)), size = rank < 2 ? 0 : shape.back();
  if (rank < 2 || shape[static_cast<size_t>(rank - 2)] != size) n.invalid(fmt::format("expected square matrices, found {}", shape_text(shape)));
  if (size > kLargest) n.unsupported(fmt::format("matrices of {} rows (at most {})", size, kLargest));
  const Dims outer(shape.begin(), shape.end() - 2);
  int64_t count = 1;
  for (const int64_t d : outer) count *= d;
  int a = n.reshape(n.in(0), {count, size, size});
  const DType t = n.dtype(a);
  int product = -1;
  const auto multiply = [&](int factor) { product = product < 0 ? factor : n.binary("mul", product, factor); };
  for (int64_t m = size; m > 1; --m) {
    // The row with the largest first element takes the place of the first one.
    const int column = n.slice(a, 2, 0, 1);
    const int best = n.emit("argmax", {n.emit("abs", {column})}, attrs({{"axis", int64_t{1}}, {"keepdims", int64_t{1}}}));
    const int everywhere = n.emit("broadcast_to", {best}, attrs({{"shape", Dims{count, 1, m}}}));
    const int pivot_row = n.emit("gather_elements", {a, everywhere}, attrs({{"axis", int64_t{1}}}));
    HostArray rows = HostArray::make(kInt64, {1, m, 1});
    for (int64_t i = 0; i < m; ++i) rows.set_int(i, i);
    const int exchanged = n.emit("where", {n.binary("equal", n.constant(std::move(rows)), best), n.slice(a, 1, 0, 1), a});
    const int pivot = n.slice(pivot_row, 2, 0, 1);
    multiply(pivot);
    multiply(n.emit("where", {n.with_scalar("equal", best, 0), n.scalar(t, 1), n.scalar(t, -1)}));
    // A pivot of zero makes the product zero, whatever is divided here.
    const int divisor = n.emit("where", {n.with_scalar("equal", pivot, 0), n.scalar(t, 1), pivot});
    const int below = n.slice(exchanged, 1, 1, m - 1), factors = n.binary("div", n.slice(below, 2, 0, 1), divisor);
    a = n.binary("sub", n.slice(below, 2, 1, m - 1), n.binary("mul", factors, n.slice(pivot_row, 2, 1, m - 1)));
  }
  multiply(a);
  return {n.reshape(product, outer)};
}

constexpr OnnxOp kReduceOps[] = {
    {"ArgMax", arg_max},       {"ArgMin", arg_min},
    {"CumProd", cum_prod},     {"CumSum", cum_sum},
    {"Det", det},
    {"ReduceL1", l1},          {"ReduceL2", l2},
    {"ReduceLogSum", log_sum}, {"ReduceLogSumExp", log_sum_exp},
    {"ReduceMax", max},        {"ReduceMean", reduce_mean},
    {"ReduceMin", min},        {"ReduceProd", prod},
    {"ReduceSum", sum},        {"ReduceSumSquare", sum_square},
    {"TopK", top_k},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_reduce() { return kReduceOps; }

}  // namespace tw::frontends
