// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

Types infer_reshape(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  const Dims shape = c.node->attrs.integers("shape", {});
  TW_TRY(std::vector<TensorType> types, result(c, x.dtype, shape));
  if (types[0].num_elements() != x.num_elements())
    return bad(c, fmt::format("expected a shape of {} elements like {}, found {}", x.num_elements(), shape_text(x.shape), shape_text(shape)));
  return types;
}

/// Indices into `from` of the element at position `i` of `to`. Dimensions are matched in the smallest groups of equal element
/// counts, so that unchanged dimensions keep a plain index and only merged or split ones need division.
Indices source_index(const Dims& from, const Dims& to, const Indices& i) {
  Indices at(from.size(), ir::index(0));
  size_t f = 0, t = 0;
  while (f < from.size() && t < to.size()) {
    size_t f_end = f + 1, t_end = t + 1;
    int64_t in = from[f], out = to[t];
    while (in != out) (in < out ? in *= from[f_end++] : out *= to[t_end++]);
    Expr flat = ir::index(0);
    for (size_t d = t; d < t_end; ++d)
      if (to[d] != 1) flat = flat * to[d] + i[d];
    int64_t stride = in;
    bool outermost = true;
    for (size_t d = f; d < f_end; ++d) {
      stride /= from[d];
      if (from[d] == 1) continue;
      const Expr q = ir::floor_div(flat, ir::index(stride));
      at[d] = outermost ? q : ir::floor_mod(q, ir::index(from[d]));
      outermost = false;
    }
    f = f_end;
    t = t_end;
  }
  return at;
}

Tensors reshape_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  const Dims& shape = c.outputs[0].shape;
  return std::vector{b.compute(
      "reshape", shape, [&](const Indices& i) { return x.at(source_index(x.shape(), shape, i)); }, "injective")};
}

}  // namespace

std::vector<OpDef> reshape() {
  return {{"reshape", FusionKind::injective, infer_reshape, reshape_to_te, kExact, "The same elements in row-major order under another shape"}};
}

}  // namespace tw::graph::ops
