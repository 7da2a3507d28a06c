// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/bytes.h"
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x [M, K] of uint8, weight [N, K] of int8, K a multiple of four; result [M, N] of int32.
Types infer_dense_bytes(const OpContext& c) {
  TW_CHECK(check_bytes(c, 2));
  return result(c, kInt32, {operand(c, 0).shape[0], operand(c, 1).shape[0]});
}

Tensors dense_bytes_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &w = *in[1];
  return std::vector{b.reduce(
      "dense_bytes", c.outputs[0].shape, {x.shape()[1] / target::kBytesTogether}, te::Reducer::sum,
      [&](const Indices& s, const Indices& r) {
        return bytes_together(r[0], [&](const Expr& k) { return x(s[0], k); }, [&](const Expr& k) { return w(s[1], k); });
      },
      "dense_bytes")};
}

}  // namespace

std::vector<OpDef> dense_bytes() {
  return {{"dense_bytes", FusionKind::out_elementwise_fusable, infer_dense_bytes, dense_bytes_to_te, kExact,
           "x [M, K] of uint8 times the transpose of weight [N, K] of int8, K a multiple of four, in int32"}};
}

}  // namespace tw::graph::ops
