// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

Types infer_where(const OpContext& c) {
  TW_CHECK(check_operands(c, 3, 3));
  TW_CHECK(check_same_dtype(c, 1, 2));
  if (!operand(c, 0).dtype.is_bool()) return bad(c, fmt::format("expected a boolean condition, found {}", operand(c, 0).dtype.name()));
  TW_TRY(const Dims branches, broadcast_shapes(c, operand(c, 1).shape, operand(c, 2).shape));
  TW_TRY(Dims shape, broadcast_shapes(c, operand(c, 0).shape, branches));
  return result(c, operand(c, 1).dtype, std::move(shape));
}

Tensors where_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  return std::vector{b.compute("where", c.outputs[0].shape,
                               [&](const Indices& i) { return ir::select(read_broadcast(*in[0], i), read_broadcast(*in[1], i), read_broadcast(*in[2], i)); })};
}

}  // namespace

std::vector<OpDef> where() {
  return {{"where", FusionKind::broadcast, infer_where, where_to_te, kExact, "The second operand where the first is true, else the third"}};
}

}  // namespace tw::graph::ops
