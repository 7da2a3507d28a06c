// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

Types infer_broadcast_to(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  const Dims shape = c.node->attrs.integers("shape", {});
  TW_TRY(Dims common, broadcast_shapes(c, x.shape, shape));
  if (common != shape) return bad(c, fmt::format("expected an operand that broadcasts to {}, found shape {}", shape_text(shape), shape_text(x.shape)));
  return result(c, x.dtype, std::move(common));
}

Tensors broadcast_to_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  return std::vector{b.compute(
      "broadcast_to", c.outputs[0].shape, [&](const Indices& i) { return read_broadcast(*in[0], i); }, "injective")};
}

}  // namespace

std::vector<OpDef> broadcast_to() {
  return {{"broadcast_to", FusionKind::broadcast, infer_broadcast_to, broadcast_to_to_te, kExact,
           "Dimensions of extent 1, and missing leading ones, repeated up to shape"}};
}

}  // namespace tw::graph::ops
