// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x of any shape, scale and optional bias that broadcast to the dimensions from `axis` on.
Types infer(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 3));
  TW_CHECK(check_float(c, 0));
  const TensorType& x = operand(c, 0);
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), static_cast<int64_t>(x.shape.size())));
  const Dims inner(x.shape.begin() + axis, x.shape.end());
  for (size_t k = 1; k < 3; ++k) {
    if (!has_operand(c, k)) continue;
    TW_CHECK(check_same_dtype(c, 0, k));
    TW_TRY(const Dims common, broadcast_shapes(c, inner, operand(c, k).shape));
    if (common != inner)
      return bad(c, fmt::format("expected operand {} to broadcast to {}, found shape {}", k, shape_text(inner), shape_text(operand(c, k).shape)));
  }
  return result(c, x.dtype, x.shape);
}

/// Mean, then the mean of squared differences (two passes: no cancellation), then the affine map.
Tensors to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), x.rank()));
  const Dims outer(x.shape().begin(), x.shape().begin() + axis), inner(x.shape().begin() + axis, x.shape().end());
  const Expr count = ir::constant(x.dtype(), static_cast<double>(product(inner)));
  const auto joined = [](const Indices& s, const Indices& r) {
    Indices at = s;
    at.insert(at.end(), r.begin(), r.end());
    return at;
  };
  const te::Tensor sum = b.reduce("sum", outer, inner, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x.at(joined(s, r)); });
  const te::Tensor mean = b.compute("mean", outer, [&](const Indices& i) { return sum.at(i) / count; });
  const te::Tensor squares = b.reduce("squares", outer, inner, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
    const Expr d = x.at(joined(s, r)) - mean.at(s);
    return d * d;
  });
  const te::Tensor scale = b.compute("inverse_deviation", outer, [&](const Indices& i) {
    return number(count, 1) / call(ir::Intrinsic::sqrt, squares.at(i) / count + number(count, c.node->attrs.real("epsilon", 1e-5)));
  });
  return std::vector{b.compute("layer_norm", x.shape(), [&](const Indices& i) {
    const Indices o(i.begin(), i.begin() + axis);
    Expr y = (x.at(i) - mean.at(o)) * scale.at(o) * read_broadcast(*in[1], i);
    if (has_operand(c, 2)) y = y + read_broadcast(*in[2], i);
    return y;
  })};
}

}  // namespace

std::vector<OpDef> layer_norm() {
  return {{"layer_norm", FusionKind::opaque, infer, to_te, kTranscendental,
           "Zero mean and unit variance over the dimensions from axis on, then scale and optional bias"}};
}

}  // namespace tw::graph::ops
