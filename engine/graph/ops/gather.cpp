// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Data of any shape, integer indices of any shape: the dimension `axis` is replaced by the indices' dimensions.
Types infer_gather(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  const TensorType &x = operand(c, 0), &indices = operand(c, 1);
  if (!indices.dtype.is_int()) return bad(c, fmt::format("expected integer indices, found {}", indices.dtype.name()));
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), static_cast<int64_t>(x.shape.size())));
  Dims shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  return result(c, x.dtype, std::move(shape));
}

Tensors gather_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &indices = *in[1];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), x.rank()));
  return std::vector{b.compute(
      "gather", c.outputs[0].shape,
      [&](const Indices& i) {
        Indices at(i.begin(), i.begin() + axis);
        at.push_back(wrapped_index(indices.at(Indices(i.begin() + axis, i.begin() + axis + indices.rank())), x.shape()[static_cast<size_t>(axis)]));
        at.insert(at.end(), i.begin() + axis + indices.rank(), i.end());
        return x.at(std::move(at));
      },
      "gather")};
}

}  // namespace

std::vector<OpDef> gather() {
  return {{"gather", FusionKind::injective, infer_gather, gather_to_te, kExact,
           "Slices along axis chosen by an index tensor; negative indices count from the end, others are limited to the dimension"}};
}

}  // namespace tw::graph::ops
