// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x [N, C, ...]; scale, bias, mean and variance [C].
Types infer_batch_norm(const OpContext& c) {
  TW_CHECK(check_operands(c, 5, 5));
  TW_CHECK(check_float(c, 0));
  const TensorType& x = operand(c, 0);
  if (x.shape.size() < 2) return bad(c, fmt::format("expected data of rank 2 or more, found {}", shape_text(x.shape)));
  for (size_t i = 1; i < 5; ++i) {
    TW_CHECK(check_same_dtype(c, 0, i));
    if (operand(c, i).shape != Dims{x.shape[1]})
      return bad(c, fmt::format("expected operand {} of shape [{}], found {}", i, x.shape[1], shape_text(operand(c, i).shape)));
  }
  return result(c, x.dtype, x.shape);
}

Tensors batch_norm_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &scale = *in[1], &bias = *in[2], &mean = *in[3], &var = *in[4];
  return std::vector{b.compute("batch_norm", x.shape(), [&](const Indices& i) {
    const Expr& ch = i[1];
    const Expr deviation = call(ir::Intrinsic::sqrt, var(ch) + ir::constant(x.dtype(), c.node->attrs.real("epsilon", 1e-5)));
    return (x.at(i) - mean(ch)) / deviation * scale(ch) + bias(ch);
  })};
}

}  // namespace

std::vector<OpDef> batch_norm() {
  return {{"batch_norm", FusionKind::broadcast, infer_batch_norm, batch_norm_to_te, kTranscendental,
           "(x - mean) / sqrt(variance + epsilon) * scale + bias along dimension 1, with stored statistics"}};
}

}  // namespace tw::graph::ops
