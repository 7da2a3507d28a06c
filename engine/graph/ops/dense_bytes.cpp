// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

constexpr int64_t kTogether = 4;

/// x [M, K] of uint8, weight [N, K] of int8, K a multiple of four; result [M, N] of int32.
Types infer_dense_bytes(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  TW_CHECK(check_rank(c, 0, 2));
  TW_CHECK(check_rank(c, 1, 2));
  const TensorType &x = operand(c, 0), &w = operand(c, 1);
  if (x.dtype != kUInt8 || w.dtype != kInt8) return bad(c, fmt::format("expected uint8 and int8, found {} and {}", x.dtype.name(), w.dtype.name()));
  if (x.shape[1] != w.shape[1]) return bad(c, fmt::format("expected equal second extents, found {} and {}", shape_text(x.shape), shape_text(w.shape)));
  if (x.shape[1] % kTogether != 0) return bad(c, fmt::format("expected a second extent that {} divides, found {}", kTogether, x.shape[1]));
  return result(c, kInt32, {x.shape[0], w.shape[0]});
}

/// Four products in one term, as processors compute them.
Tensors dense_bytes_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &w = *in[1];
  return std::vector{b.reduce(
      "dense_bytes", c.outputs[0].shape, {x.shape()[1] / kTogether}, te::Reducer::sum,
      [&](const Indices& s, const Indices& r) {
        const auto product = [&](int64_t j) {
          const ir::Expr k = r[0] * kTogether + j;
          return ir::cast(kInt32, x(s[0], k)) * ir::cast(kInt32, w(s[1], k));
        };
        ir::Expr sum = product(0);
        for (int64_t j = 1; j < kTogether; ++j) sum = sum + product(j);
        return sum;
      },
      "dense_bytes")};
}

}  // namespace

std::vector<OpDef> dense_bytes() {
  return {{"dense_bytes", FusionKind::out_elementwise_fusable, infer_dense_bytes, dense_bytes_to_te, kExact,
           "x [M, K] of uint8 times the transpose of weight [N, K] of int8, K a multiple of four, in int32"}};
}

}  // namespace tw::graph::ops
