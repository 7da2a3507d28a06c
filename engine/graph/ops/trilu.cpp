// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Attributes upper (1 keeps the upper triangle) and k (the diagonal, 0 is the main one).
Types infer_trilu(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  if (x.shape.size() < 2) return bad(c, fmt::format("expected an operand of rank 2 or more, found {}", shape_text(x.shape)));
  return result(c, x.dtype, x.shape);
}

Tensors trilu_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  const int64_t limit = int64_t{1} << 40;
  const int64_t k = std::min(limit, std::max(-limit, c.node->attrs.integer("k", 0)));
  const bool upper = c.node->attrs.integer("upper", 1) != 0;
  return std::vector{b.compute("trilu", x.shape(), [&](const Indices& i) {
    const Expr diagonal = i[i.size() - 2] + k;
    const Expr& column = i.back();
    return ir::select(upper ? diagonal <= column : column <= diagonal, x.at(i), ir::zero(x.dtype()));
  })};
}

}  // namespace

std::vector<OpDef> trilu() {
  return {{"trilu", FusionKind::injective, infer_trilu, trilu_to_te, kExact, "The upper or lower triangle of the last two dimensions, zero elsewhere"}};
}

}  // namespace tw::graph::ops
