// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Data [N, C, ...]; attributes size, alpha, beta, bias.
Types infer_lrn(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_CHECK(check_float(c, 0));
  const TensorType& x = operand(c, 0);
  const int64_t size = c.node->attrs.integer("size", 0);
  if (x.shape.size() < 2) return bad(c, fmt::format("expected data of rank 2 or more, found {}", shape_text(x.shape)));
  if (size < 1 || size > (1 << 20)) return bad(c, fmt::format("expected a size of at least 1, found {}", size));
  return result(c, x.dtype, x.shape);
}

/// x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta.
Tensors lrn_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  const int64_t size = c.node->attrs.integer("size", 1), before = (size - 1) / 2, channels = x.shape()[1];
  const te::Tensor squares = b.reduce("squares", x.shape(), {size}, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
    Indices at = s;
    at[1] = s[1] + r[0] - before;
    const Expr e = x.at(at);
    return ir::select(ir::index(0) <= at[1] && at[1] < ir::index(channels), e * e, ir::zero(x.dtype()));
  });
  return std::vector{b.compute("lrn", x.shape(), [&](const Indices& i) {
    const Expr e = x.at(i);
    const Expr base = number(e, c.node->attrs.real("bias", 1)) + number(e, c.node->attrs.real("alpha", 1e-4) / static_cast<double>(size)) * squares.at(i);
    return e / ir::call(ir::Intrinsic::pow, {base, number(e, c.node->attrs.real("beta", 0.75))});
  })};
}

}  // namespace

std::vector<OpDef> lrn() {
  return {{"lrn", FusionKind::opaque, infer_lrn, lrn_to_te, kTranscendental, "Local response normalisation over neighbouring channels"}};
}

}  // namespace tw::graph::ops
