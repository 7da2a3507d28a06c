// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x [M, K], weight [N, K], optional bias [N]; result [M, N].
Types infer_dense(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 3));
  TW_CHECK(check_rank(c, 0, 2));
  TW_CHECK(check_rank(c, 1, 2));
  TW_CHECK(check_same_dtype(c, 0, 1));
  const Dims &x = operand(c, 0).shape, &w = operand(c, 1).shape;
  if (x[1] != w[1]) return bad(c, fmt::format("expected equal second extents, found {} and {}", shape_text(x), shape_text(w)));
  if (has_operand(c, 2) && operand(c, 2).shape != Dims{w[0]})
    return bad(c, fmt::format("expected a bias of shape [{}], found {}", w[0], shape_text(operand(c, 2).shape)));
  return result(c, operand(c, 0).dtype, {x[0], w[0]});
}

Tensors dense_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &w = *in[1];
  te::Tensor out = b.reduce(
      "dense", c.outputs[0].shape, {x.shape()[1]}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); },
      "dense");
  if (has_operand(c, 2)) {
    const te::Tensor plain = out;
    out = b.compute("bias_add", plain.shape(), [&](const Indices& i) { return plain.at(i) + (*in[2])(i[1]); });
  }
  return std::vector{out};
}

}  // namespace

std::vector<OpDef> dense() {
  return {{"dense", FusionKind::out_elementwise_fusable, infer_dense, dense_to_te, kArithmetic,
           "x [M, K] times the transpose of weight [N, K], plus an optional bias [N]"}};
}

}  // namespace tw::graph::ops
