// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Attributes axis, k, largest; the result holds int64 positions in order.
Types infer_top_k(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  if (x.dtype.is_bool()) return bad(c, "expected a numeric operand, found bool");
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), static_cast<int64_t>(x.shape.size())));
  const int64_t k = c.node->attrs.integer("k", 0), extent = x.shape[static_cast<size_t>(axis)];
  if (k < 1 || k > extent) return bad(c, fmt::format("expected from 1 to {} elements, found k = {}", extent, k));
  Dims shape = x.shape;
  shape[static_cast<size_t>(axis)] = k;
  return result(c, kInt64, std::move(shape));
}

/// Every element's rank is the number of elements that come before it (ties: the lower position first); position p of the result is the
/// element of rank p. Quadratic in the extent, but without any order between elements.
Tensors top_k_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const int64_t resolved, resolve_axis(c, c.node->attrs.integer("axis", -1), x.rank()));
  const auto axis = static_cast<size_t>(resolved);
  const bool largest = c.node->attrs.integer("largest", 1) != 0;
  const int64_t extent = x.shape()[axis];
  const te::Tensor ranks = b.reduce("ranks", x.shape(), {extent}, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
    Indices other = s;
    other[axis] = r[0];
    const Expr mine = x.at(s), theirs = x.at(other);
    const Expr before = largest ? mine < theirs : theirs < mine;
    return ir::select(before || (ir::equal(mine, theirs) && r[0] < s[axis]), ir::index(1), ir::index(0));
  });
  return std::vector{b.reduce("top_k", c.outputs[0].shape, {extent}, te::Reducer::max, [&](const Indices& s, const Indices& r) {
    Indices at = s;
    at[axis] = r[0];
    return ir::select(ir::equal(ranks.at(at), s[axis]), r[0], ir::index(0));
  })};
}

}  // namespace

std::vector<OpDef> top_k() {
  return {{"top_k_indices", FusionKind::opaque, infer_top_k, top_k_to_te, kExact, "Positions of the k largest (or smallest) elements along axis, in order"}};
}

}  // namespace tw::graph::ops
