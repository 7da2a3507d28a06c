// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/scatter.h"

namespace tw::graph::ops {

namespace {

/// Data of any shape; integer indices and updates of one shape and the data's rank.
Types infer_scatter_elements(const OpContext& c) {
  TW_CHECK(check_operands(c, 3, 3));
  TW_CHECK(check_same_dtype(c, 0, 2));
  TW_CHECK(check_reduction(c));
  const TensorType &x = operand(c, 0), &indices = operand(c, 1);
  if (!indices.dtype.is_int() || indices.shape != operand(c, 2).shape)
    return bad(c, fmt::format("expected integer indices of the updates' shape {}, found {}", shape_text(operand(c, 2).shape), indices.text()));
  TW_CHECK(check_element_indices(c));
  return result(c, x.dtype, x.shape);
}

Tensors scatter_elements_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &indices = *in[1], &updates = *in[2];
  TW_TRY(const int64_t resolved, resolve_axis(c, c.node->attrs.integer("axis", 0), x.rank()));
  const auto axis = static_cast<size_t>(resolved);
  const int64_t n = x.shape()[axis];
  Scatter s{x, {indices.shape()[axis]}, x.shape().size(), {}, {}};
  const auto source = [axis](const Indices& o, const Indices& r) {
    Indices at = o;
    at[axis] = r[0];
    return at;
  };
  s.hits = [&, source](const Indices& o, const Indices& r) {
    Expr inside = ir::bool_imm(true);
    for (size_t d = 0; d < o.size(); ++d)
      if (d != axis && indices.shape()[d] < x.shape()[d]) inside = inside && o[d] < ir::index(indices.shape()[d]);
    // Written as a nested choice so that the index is read only inside its tensor.
    return ir::select(inside, ir::equal(wrapped_index(indices.at(source(o, r)), n), o[axis]), ir::bool_imm(false));
  };
  s.update = [&, source](const Indices& o, const Indices& r) { return updates.at(source(o, r)); };
  return scatter(b, c, s);
}

}  // namespace

std::vector<OpDef> scatter_elements() {
  return {{"scatter_elements", FusionKind::opaque, infer_scatter_elements, scatter_elements_to_te, kArithmetic,
           "The data with single elements replaced by (or combined with) updates at the indices along axis"}};
}

}  // namespace tw::graph::ops
