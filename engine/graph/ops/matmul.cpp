// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Attribute transpose_b: 1 where b is [..., N, K].
bool rows_of_b(const OpContext& c) { return c.node->attrs.integer("transpose_b", 0) != 0; }

/// a [..., M, K] times b [..., K, N]; leading dimensions broadcast. Both have rank 2 or more.
Types infer_matmul(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  TW_CHECK(check_same_dtype(c, 0, 1));
  const Dims &a = operand(c, 0).shape, &b = operand(c, 1).shape;
  if (a.size() < 2 || b.size() < 2) return bad(c, fmt::format("expected operands of rank 2 or more, found {} and {}", shape_text(a), shape_text(b)));
  const size_t inner = b.size() - (rows_of_b(c) ? 1 : 2), outer = b.size() - (rows_of_b(c) ? 2 : 1);
  if (a[a.size() - 1] != b[inner]) return bad(c, fmt::format("expected equal inner extents, found {} and {}", shape_text(a), shape_text(b)));
  TW_TRY(Dims shape, broadcast_shapes(c, Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2)));
  shape.push_back(a[a.size() - 2]);
  shape.push_back(b[outer]);
  return result(c, operand(c, 0).dtype, std::move(shape));
}

/// Indices of an operand: its leading dimensions at the broadcast position, then row and column.
Indices operand_index(const te::Tensor& t, const Indices& s, Expr row, Expr column) {
  const size_t batch = s.size() - 2, own = t.shape().size() - 2;
  Indices at;
  for (size_t d = 0; d < own; ++d) at.push_back(t.shape()[d] == 1 ? ir::index(0) : s[batch - own + d]);
  at.push_back(std::move(row));
  at.push_back(std::move(column));
  return at;
}

Tensors matmul_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &y = *in[1];
  const bool rows = rows_of_b(c);
  const std::string tag = rows ? "rows_matmul" : c.outputs[0].shape.size() == 2 ? "matmul" : "batch_matmul";
  return std::vector{b.reduce(
      tag, c.outputs[0].shape, {x.shape().back()}, te::Reducer::sum,
      [&](const Indices& s, const Indices& r) {
        const Expr &m = s[s.size() - 2], &n = s.back();
        return x.at(operand_index(x, s, m, r[0])) * y.at(rows ? operand_index(y, s, n, r[0]) : operand_index(y, s, r[0], n));
      },
      tag)};
}

}  // namespace

std::vector<OpDef> matmul() {
  return {{"matmul", FusionKind::out_elementwise_fusable, infer_matmul, matmul_to_te, kArithmetic,
           "Matrix product of [..., M, K] and [..., K, N], with transpose_b [..., N, K]; leading dimensions broadcast"}};
}

}  // namespace tw::graph::ops
