// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Attributes axis, exclusive, reverse.
Types infer_cumsum(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  if (x.dtype.is_bool()) return bad(c, "expected a numeric operand, found bool");
  TW_CHECK(resolve_axis(c, c.node->attrs.integer("axis", 0), static_cast<int64_t>(x.shape.size())));
  return result(c, x.dtype, x.shape);
}

/// Written as a masked reduction over the whole axis: quadratic in its extent, but free of order between elements.
template <te::Reducer kReducer>
Tensors running_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const int64_t resolved, resolve_axis(c, c.node->attrs.integer("axis", 0), x.rank()));
  const auto axis = static_cast<size_t>(resolved);
  const bool exclusive = c.node->attrs.integer("exclusive", 0) != 0, reverse = c.node->attrs.integer("reverse", 0) != 0;
  const Expr nothing = ir::constant(x.dtype(), kReducer == te::Reducer::sum ? 0 : 1);
  return std::vector{b.reduce(c.node->op, x.shape(), {x.shape()[axis]}, kReducer, [&](const Indices& s, const Indices& r) {
    const Expr &low = reverse ? s[axis] : r[0], &high = reverse ? r[0] : s[axis];
    Indices at = s;
    at[axis] = r[0];
    return ir::select(exclusive ? low < high : low <= high, x.at(std::move(at)), nothing);
  })};
}

}  // namespace

std::vector<OpDef> cumsum() {
  return {{"cumsum", FusionKind::opaque, infer_cumsum, running_to_te<te::Reducer::sum>, kArithmetic,
           "Running sum along axis; exclusive leaves out the element itself, reverse runs from the end"},
          {"cumprod", FusionKind::opaque, infer_cumsum, running_to_te<te::Reducer::prod>, kArithmetic,
           "Running product along axis; exclusive leaves out the element itself, reverse runs from the end"}};
}

}  // namespace tw::graph::ops
