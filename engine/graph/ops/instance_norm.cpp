// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/moments.h"
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x [N, C, spatial...], scale [C], bias [C]. Statistics are taken over C / groups channels and all spatial positions, with groups = C when the attribute is
/// absent.
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
  const Moments m = moments_of_groups(b, c, x, x.shape()[1] / c.node->attrs.integer("groups", x.shape()[1]));
  return std::vector{b.compute("instance_norm", x.shape(), [&](const Indices& i) {
    const Indices o{i[0], i[1]};
    return (x.at(i) - m.mean.at(o)) * m.inverse_deviation.at(o) * (*in[1])(i[1]) + (*in[2])(i[1]);
  })};
}

}  // namespace

std::vector<OpDef> instance_norm() {
  return {{"instance_norm", FusionKind::opaque, infer_instance_norm, instance_norm_to_te, kTranscendental,
           "Zero mean and unit variance over the spatial dimensions of each channel (or group of channels), then scale and bias"}};
}

}  // namespace tw::graph::ops
