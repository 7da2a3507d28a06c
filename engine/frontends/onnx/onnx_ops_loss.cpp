// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// Every target that is the ignored class counts nothing; the mean divides by the summed weights of the rest.
/// Source: NegativeLogLikelihoodLoss in the ONNX operator reference. `scores` [N, C, d...], `target` [N, d...], `weight` [C] or -1.
int negative_log_likelihood(OnnxNode& n, int scores, int target, int weight) {
  const std::string reduction = n.text("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") n.invalid("expected reduction 'none', 'sum' or 'mean'");
  if (n.rank(scores) < 2 || n.rank(target) + 1 != n.rank(scores))
    n.invalid(fmt::format("targets {} do not fit scores {}", shape_text(n.shape(target)), shape_text(n.shape(scores))));
  const DType t = n.dtype(scores);
  const Dims shape = n.shape(target);
  const bool ignores = n.has_attr("ignore_index");
  int valid = -1, cls = target;
  if (ignores) {
    valid = n.emit("not_equal", {target, n.scalar(n.dtype(target), static_cast<double>(n.integer("ignore_index", 0)))});
    cls = n.emit("where", {valid, target, n.scalar(n.dtype(target), 0)});
  }
  Dims column = shape;
  column.insert(column.begin() + 1, 1);
  const int picked = n.reshape(n.emit("gather_elements", {scores, n.reshape(cls, column)}, attrs({{"axis", int64_t{1}}})), shape);
  int loss = n.emit("neg", {picked}), weights = -1;
  if (weight >= 0) weights = n.emit("gather", {weight, cls}, attrs({{"axis", int64_t{0}}}));
  if (ignores) weights = n.emit("where", {valid, weights >= 0 ? weights : n.scalar(t, 1), n.scalar(t, 0)});
  if (weights >= 0) loss = n.binary("mul", loss, weights);
  const graph::Attrs whole = attrs({{"keepdims", int64_t{0}}});
  if (reduction == "none") return loss;
  if (reduction == "mean" && weights < 0) return n.emit("reduce_mean", {loss}, whole);
  const int sum = n.emit("reduce_sum", {loss}, whole);
  return reduction == "sum" ? sum : n.binary("div", sum, n.emit("reduce_sum", {weights}, whole));
}

Results nll_loss(OnnxNode& n) { return {negative_log_likelihood(n, n.in(0), n.in(1), n.optional(2))}; }

Results softmax_cross_entropy(OnnxNode& n) {
  const int log_probability = n.emit("log_softmax", {n.in(0)}, attrs({{"axis", int64_t{1}}}));
  return {negative_log_likelihood(n, log_probability, n.in(1), n.optional(2)), log_probability};
}

constexpr OnnxOp kLossOps[] = {{"NegativeLogLikelihoodLoss", nll_loss}, {"SoftmaxCrossEntropyLoss", softmax_cross_entropy}};

}  // namespace

std::span<const OnnxOp> onnx_ops_loss() { return kLossOps; }

}  // namespace tw::frontends
