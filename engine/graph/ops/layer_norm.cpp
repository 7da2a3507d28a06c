// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/moments.h"
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x of any shape, scale and optional bias that broadcast to the dimensions from `axis` on.
Types infer_layer_norm(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 3));
  TW_CHECK(check_float(c, 0));
  const TensorType& x = operand(c, 0);
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), static_cast<int64_t>(x.shape.size())));
  const Dims inner(x.shape.begin() + axis, x.shape.end());
  for (size_t k = 1; k < 3; ++k) {
    if (!has_operand(c, k)) continue;
    TW_CHECK(check_same_dtype(c, 0, k));
    TW_CHECK(check_broadcasts_to(c, k, inner));
  }
  return result(c, x.dtype, x.shape);
}

Tensors layer_norm_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), x.rank()));
  const Dims outer(x.shape().begin(), x.shape().begin() + axis), inner(x.shape().begin() + axis, x.shape().end());
  const auto joined = [](const Indices& s, const Indices& r) {
    Indices at = s;
    at.insert(at.end(), r.begin(), r.end());
    return at;
  };
  const Moments m = moments(b, c, x, outer, inner, joined);
  return std::vector{b.compute("layer_norm", x.shape(), [&](const Indices& i) {
    const Indices o(i.begin(), i.begin() + axis);
    Expr y = (x.at(i) - m.mean.at(o)) * m.inverse_deviation.at(o) * read_broadcast(*in[1], i);
    if (has_operand(c, 2)) y = y + read_broadcast(*in[2], i);
    return y;
  })};
}

}  // namespace

std::vector<OpDef> layer_norm() {
  return {{"layer_norm", FusionKind::opaque, infer_layer_norm, layer_norm_to_te, kTranscendental,
           "Zero mean and unit variance over the dimensions from axis on, then scale and optional bias"}};
}

}  // namespace tw::graph::ops
