// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

Types infer_concat(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 100000));
  for (size_t k = 0; k < c.inputs.size(); ++k)
    if (!c.inputs[k]) return bad(c, fmt::format("expected {} operands, found operand {} absent", c.inputs.size(), k));
  const TensorType& first = operand(c, 0);
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), static_cast<int64_t>(first.shape.size())));
  Dims shape = first.shape;
  for (size_t k = 1; k < c.inputs.size(); ++k) {
    TW_CHECK(check_same_dtype(c, 0, k));
    const Dims& other = operand(c, k).shape;
    bool fits = other.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) fits = static_cast<int64_t>(d) == axis || other[d] == shape[d];
    if (!fits)
      return bad(c,
                 fmt::format("expected operands that differ in dimension {} only, found shapes {} and {}", axis, shape_text(first.shape), shape_text(other)));
    shape[static_cast<size_t>(axis)] += other[static_cast<size_t>(axis)];
  }
  return result(c, first.dtype, std::move(shape));
}

/// The operands in [from, to) as a balanced tree of selects on the position along the axis.
Expr pick(Operands in, const Dims& starts, size_t axis, const Indices& i, size_t from, size_t to) {
  if (to - from == 1) {
    Indices at = i;
    at[axis] = i[axis] - starts[from];
    return in[from]->at(std::move(at));
  }
  const size_t middle = (from + to) / 2;
  return ir::select(i[axis] < ir::index(starts[middle]), pick(in, starts, axis, i, from, middle), pick(in, starts, axis, i, middle, to));
}

Tensors concat_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const int64_t resolved, resolve_axis(c, c.node->attrs.integer("axis", 0), in[0]->rank()));
  const auto axis = static_cast<size_t>(resolved);
  Dims starts{0};
  for (const auto& t : in) starts.push_back(starts.back() + t->shape()[axis]);
  return std::vector{b.compute(
      "concat", c.outputs[0].shape, [&](const Indices& i) { return pick(in, starts, axis, i, 0, in.size()); }, "injective")};
}

}  // namespace

std::vector<OpDef> concat() { return {{"concat", FusionKind::injective, infer_concat, concat_to_te, kExact, "Operands one after another along axis"}}; }

}  // namespace tw::graph::ops
