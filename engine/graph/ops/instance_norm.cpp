// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/moments.h"
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x [N, C, spatial...], scale [C], bias [C]. Statistics are taken over C / groups channels and all spatial positions, with groups = C when the attribute is
/// absent. Attribute by_channel: each channel of a group is added up by itself first.
Types infer_instance_norm(const OpContext& c) {
  TW_CHECK(check_operands(c, 3, 3));
  TW_CHECK(check_float(c, 0));
  const TensorType& x = operand(c, 0);
  if (x.shape.size() < 3) return bad(c, fmt::format("expected data of rank 3 or more, found {}", shape_text(x.shape)));
  const int64_t groups = c.node->attrs.integer("groups", x.shape[1]);
  if (groups < 1 || x.shape[1] % groups != 0) return bad(c, fmt::format("expected channels that divide into {} groups, found {}", groups, x.shape[1]));
  for (size_t k = 1; k < 3; ++k) {
    TW_CHECK(check_same_dtype(c, 0, k));
    if (operand(c, k).shape != Dims{x.shape[1]})
      return bad(c, fmt::format("expected operand {} of shape [{}], found {}", k, x.shape[1], shape_text(operand(c, k).shape)));
  }
  return result(c, x.dtype, x.shape);
}

Tensors instance_norm_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  const int64_t groups = c.node->attrs.integer("groups", x.shape()[1]), per_group = x.shape()[1] / groups;
  const bool by_channel = per_group > 1 && c.node->attrs.integer("by_channel", 0) != 0;
  const Dims outer{x.shape()[0], groups};
  Dims inner(x.shape().begin() + 2, x.shape().end());
  if (per_group > 1) inner.insert(inner.begin(), per_group);
  const auto source = [&](const Indices& s, const Indices& r) {
    Indices at{s[0], per_group > 1 ? s[1] * per_group + r[0] : s[1]};
    at.insert(at.end(), r.begin() + (per_group > 1 ? 1 : 0), r.end());
    return at;
  };
  const Moments m = by_channel ? moments_of_groups(b, c, x, per_group) : moments(b, c, x, outer, inner, source);
  return std::vector{b.compute("instance_norm", x.shape(), [&](const Indices& i) {
    const Indices o{i[0], by_channel ? i[1] : ir::floor_div(i[1], ir::index(per_group))};
    return (x.at(i) - m.mean.at(o)) * m.inverse_deviation.at(o) * (*in[1])(i[1]) + (*in[2])(i[1]);
  })};
}

}  // namespace

std::vector<OpDef> instance_norm() {
  return {{"instance_norm", FusionKind::opaque, infer_instance_norm, instance_norm_to_te, kTranscendental,
           "Zero mean and unit variance over the spatial dimensions of each channel (or group of channels), then scale and bias"}};
}

}  // namespace tw::graph::ops
