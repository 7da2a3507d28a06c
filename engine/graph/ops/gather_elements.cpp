// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

Types infer_gather_elements(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  const TensorType &x = operand(c, 0), &indices = operand(c, 1);
  if (!indices.dtype.is_int()) return bad(c, fmt::format("expected integer indices, found {}", indices.dtype.name()));
  TW_CHECK(check_element_indices(c));
  return result(c, x.dtype, indices.shape);
}

Tensors gather_elements_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &indices = *in[1];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), x.rank()));
  return std::vector{b.compute(
      "gather_elements", c.outputs[0].shape,
      [&](const Indices& i) {
        Indices at = i;
        at[static_cast<size_t>(axis)] = wrapped_index(indices.at(i), x.shape()[static_cast<size_t>(axis)]);
        return x.at(std::move(at));
      },
      "gather")};
}

}  // namespace

std::vector<OpDef> gather_elements() {
  return {{"gather_elements", FusionKind::injective, infer_gather_elements, gather_elements_to_te, kExact,
           "One element of the data for each index: the index replaces the position along axis"}};
}

}  // namespace tw::graph::ops
