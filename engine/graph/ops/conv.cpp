// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/window.h"

namespace tw::graph::ops {

namespace {

/// Data [N, C, spatial...], weight [O, C / groups, kernel...], optional bias [O].
template <int kSpatial>
Types infer_conv(const OpContext& c) {
  TW_CHECK(check_convolved(c, kSpatial));
  const Dims &x = operand(c, 0).shape, &w = operand(c, 1).shape;
  const int64_t groups = c.node->attrs.integer("groups", 1);
  if (groups < 1 || x[1] % groups != 0 || w[0] % groups != 0 || w[1] != x[1] / groups)
    return bad(c, fmt::format("expected data and weight that fit {} groups, found {} and {}", groups, shape_text(x), shape_text(w)));
  if (has_operand(c, 2) && operand(c, 2).shape != Dims{w[0]})
    return bad(c, fmt::format("expected a bias of shape [{}], found {}", w[0], shape_text(operand(c, 2).shape)));
  TW_TRY(const Window window, window_of(c, Dims(w.begin() + 2, w.end())));
  TW_TRY(const Dims spatial, window_result(c, window, x, false));
  return result(c, operand(c, 0).dtype, window.image<int64_t>(x[0], w[0], spatial));
}

/// The tag that schedule templates look for: `conv2d`, `depthwise_conv2d`, `grouped_conv2d`.
std::string tag_of(int spatial, int64_t groups, int64_t channels) {
  const char* prefix = groups == 1 ? "" : groups == channels ? "depthwise_" : "grouped_";
  return fmt::format("{}conv{}d", prefix, spatial);
}

te::Tensor add_bias(te::DagBuilder& b, const te::Tensor& x, const te::Tensor& bias) {
  return b.compute("bias_add", x.shape(), [&](const Indices& i) { return x.at(i) + bias(i[1]); });
}

template <int kSpatial>
Tensors conv_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& weight = *in[1];
  const Dims& w = weight.shape();
  const int64_t groups = c.node->attrs.integer("groups", 1), channels = in[0]->shape()[1];
  const int64_t in_per_group = w[1], out_per_group = w[0] / groups;
  TW_TRY(const Window window, window_of(c, Dims(w.begin() + 2, w.end())));
  const te::Tensor data = window.padded() ? pad_spatial(b, *in[0], window.pad_before, window.pad_after, 0) : *in[0];
  const bool depthwise = groups > 1 && groups == channels;
  Dims reduced = window.kernel;
  if (!depthwise) reduced.insert(reduced.begin(), in_per_group);
  const auto body = [&](const Indices& s, const Indices& r) {
    const std::span<const Expr> taps = std::span(r).subspan(depthwise ? 0 : 1), at = std::span(s).subspan(2);
    const Expr ic = depthwise ? ir::index(0) : r[0];
    const Expr channel = ir::floor_div(s[1], ir::index(out_per_group)) * in_per_group + ic;
    Indices weight_at{s[1], ic};
    weight_at.insert(weight_at.end(), taps.begin(), taps.end());
    return data.at(window_index(window, s[0], groups == 1 ? ic : channel, at, taps)) * weight.at(weight_at);
  };
  const std::string tag = tag_of(kSpatial, groups, channels);
  const Dims pads = c.node->attrs.integers("pads", Dims(2 * kSpatial, 0));
  te::Tensor out = b.reduce(tag, c.outputs[0].shape, std::move(reduced), te::Reducer::sum, body, tag,
                            {{"strides", window.strides}, {"pads", pads}, {"dilations", window.dilations}, {"groups", {groups}}});
  if (has_operand(c, 2)) out = add_bias(b, out, *in[2]);
  return std::vector{out};
}

}  // namespace

std::vector<OpDef> conv() {
  return {
      {"conv1d", FusionKind::out_elementwise_fusable, infer_conv<1>, conv_to_te<1>, kArithmetic,
       "Convolution over [N, C, W] with weight [O, C/groups, K] and optional bias"},
      {"conv2d", FusionKind::out_elementwise_fusable, infer_conv<2>, conv_to_te<2>, kArithmetic,
       "Convolution over [N, C, H, W] with weight [O, C/groups, KH, KW] and optional bias"},
      {"conv3d", FusionKind::out_elementwise_fusable, infer_conv<3>, conv_to_te<3>, kArithmetic,
       "Convolution over [N, C, D, H, W] with weight [O, C/groups, KD, KH, KW] and optional bias"},
  };
}

}  // namespace tw::graph::ops
