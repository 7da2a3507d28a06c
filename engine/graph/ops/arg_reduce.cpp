// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Attributes axis, keepdims and select_last (which of several equal extremes).
Types infer_arg_reduce(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  if (x.dtype.is_bool()) return bad(c, "expected a numeric operand, found bool");
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), static_cast<int64_t>(x.shape.size())));
  Dims shape = x.shape;
  if (c.node->attrs.integer("keepdims", 1))
    shape[static_cast<size_t>(axis)] = 1;
  else
    shape.erase(shape.begin() + axis);
  return result(c, kInt64, std::move(shape));
}

template <te::Reducer kExtreme>
Tensors arg_reduce_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), x.rank()));
  const int64_t n = x.shape()[static_cast<size_t>(axis)];
  const bool keep = c.node->attrs.integer("keepdims", 1) != 0, last = c.node->attrs.integer("select_last", 0) != 0;
  const auto source = [&](const Indices& s, const Expr& r) {
    Indices at = s;
    if (keep)
      at[static_cast<size_t>(axis)] = r;
    else
      at.insert(at.begin() + axis, r);
    return at;
  };
  const te::Tensor extreme = b.reduce("extreme", c.outputs[0].shape, {n}, kExtreme, [&](const Indices& s, const Indices& r) { return x.at(source(s, r[0])); });
  return std::vector{b.reduce(c.node->op, c.outputs[0].shape, {n}, last ? te::Reducer::max : te::Reducer::min, [&](const Indices& s, const Indices& r) {
    return ir::select(ir::equal(x.at(source(s, r[0])), extreme.at(s)), r[0], ir::index(last ? 0 : n - 1));
  })};
}

}  // namespace

std::vector<OpDef> arg_reduce() {
  return {
      {"argmax", FusionKind::opaque, infer_arg_reduce, arg_reduce_to_te<te::Reducer::max>, kExact, "Position of the first (or last) maximum along axis"},
      {"argmin", FusionKind::opaque, infer_arg_reduce, arg_reduce_to_te<te::Reducer::min>, kExact, "Position of the first (or last) minimum along axis"},
  };
}

}  // namespace tw::graph::ops
