// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

Types infer_cast(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  auto to = parse_dtype(c.node->attrs.text("to", ""));
  if (!to || !to->is_scalar()) return bad(c, fmt::format("expected a type name in 'to', found '{}'", c.node->attrs.text("to", "")));
  return result(c, *to, operand(c, 0).shape);
}

Tensors cast_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  return std::vector{b.compute("cast", c.outputs[0].shape, [&](const Indices& i) { return ir::cast(c.outputs[0].dtype, in[0]->at(i)); })};
}

}  // namespace

std::vector<OpDef> cast() {
  return {{"cast", FusionKind::elementwise, infer_cast, cast_to_te, kExact, "The value in another element type; floats truncate towards zero"}};
}

}  // namespace tw::graph::ops
