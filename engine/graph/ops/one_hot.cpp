// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Integer indices of any shape, values [off, on]; attributes axis (of the result) and depth.
Types infer_one_hot(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  const TensorType& indices = operand(c, 0);
  if (!indices.dtype.is_int()) return bad(c, fmt::format("expected integer indices, found {}", indices.dtype.name()));
  if (operand(c, 1).shape != Dims{2}) return bad(c, fmt::format("expected two values, found shape {}", shape_text(operand(c, 1).shape)));
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), static_cast<int64_t>(indices.shape.size()) + 1));
  Dims shape = indices.shape;
  shape.insert(shape.begin() + axis, c.node->attrs.integer("depth", 0));
  return result(c, operand(c, 1).dtype, std::move(shape));
}

Tensors one_hot_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &indices = *in[0], &values = *in[1];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), indices.rank() + 1));
  const int64_t depth = c.node->attrs.integer("depth", 0);
  return std::vector{b.compute("one_hot", c.outputs[0].shape, [&](const Indices& i) {
    Indices at = i;
    at.erase(at.begin() + axis);
    const Expr index = ir::cast(ir::kIndex, indices.at(std::move(at)));
    const Expr wrapped = ir::select(index < ir::index(0), index + depth, index);
    return ir::select(ir::equal(wrapped, i[static_cast<size_t>(axis)]), values(int64_t{1}), values(int64_t{0}));
  })};
}

}  // namespace

std::vector<OpDef> one_hot() {
  return {{"one_hot", FusionKind::injective, infer_one_hot, one_hot_to_te, kExact,
           "The on value where the index names the position along axis, else the off value; negative indices count from the end"}};
}

}  // namespace tw::graph::ops
