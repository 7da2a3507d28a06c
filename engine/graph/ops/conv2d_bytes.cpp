// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/bytes.h"
#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/window.h"

namespace tw::graph::ops {

namespace {

constexpr int kSpatial = 2;

/// Data [N, C, H, W] of uint8, weight [O, C / groups, KH, KW] of int8, C / groups a multiple of four; result of int32. `pad_value`, a byte, stands around the image.
Types infer_conv2d_bytes(const OpContext& c) {
  TW_CHECK(check_bytes(c, kSpatial + 2, c.node->attrs.integer("groups", 1)));
  const Dims &x = operand(c, 0).shape, &w = operand(c, 1).shape;
  if (const int64_t around = c.node->attrs.integer("pad_value", 0); around < 0 || around > 255) return bad(c, fmt::format("expected a pad_value from 0 to 255, found {}", around));
  TW_TRY(const Window window, window_of(c, Dims(w.begin() + 2, w.end())));
  TW_TRY(const Dims spatial, window_result(c, window, x, false));
  return result(c, kInt32, window.image<int64_t>(x[0], w[0], spatial));
}

Tensors conv2d_bytes_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& weight = *in[1];
  const Dims& w = weight.shape();
  TW_TRY(const Window window, window_of(c, Dims(w.begin() + 2, w.end())));
  const int64_t groups = c.node->attrs.integer("groups", 1);
  const auto around = static_cast<double>(c.node->attrs.integer("pad_value", 0));
  const te::Tensor data = window.padded() ? pad_spatial(b, *in[0], window.pad_before, window.pad_after, around) : *in[0];
  const auto body = [&](const Indices& s, const Indices& r) {
    const std::span<const Expr> taps = std::span(r).subspan(1), at = std::span(s).subspan(2);
    return bytes_together(
        r[0],
        [&](const Expr& k) {
          const Expr first = ir::floor_div(s[1], ir::index(w[0] / groups)) * w[1];
          return data.at(window_index(window, s[0], groups == 1 ? k : first + k, at, taps));
        },
        [&](const Expr& k) { return weight(s[1], k, taps[0], taps[1]); });
  };
  const Dims pads = c.node->attrs.integers("pads", Dims(2 * kSpatial, 0));
  return std::vector{b.reduce("conv2d_bytes", c.outputs[0].shape, {w[1] / target::kBytesTogether, w[2], w[3]}, te::Reducer::sum, body, "conv2d_bytes",
                              {{"strides", window.strides}, {"pads", pads}, {"dilations", window.dilations}, {"groups", {groups}}})};
}

}  // namespace

std::vector<OpDef> conv2d_bytes() {
  return {{"conv2d_bytes", FusionKind::out_elementwise_fusable, infer_conv2d_bytes, conv2d_bytes_to_te, kExact,
           "Convolution over [N, C, H, W] of uint8 with weight [O, C / groups, KH, KW] of int8, C / groups a multiple of four, in int32"}};
}

}  // namespace tw::graph::ops
