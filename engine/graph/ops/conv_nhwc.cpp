// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/window.h"

namespace tw::graph::ops {

namespace {

/// Data [N, H, W, C], weight [KH, KW, C, O]; depthwise: [KH, KW, C, M], and O is C * M.
template <bool kDepthwise>
Types infer_conv_nhwc(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  for (const size_t k : {size_t{0}, size_t{1}}) TW_CHECK(check_rank(c, k, 4));
  TW_CHECK(check_same_dtype(c, 0, 1));
  const Dims &x = operand(c, 0).shape, &w = operand(c, 1).shape;
  if (w[2] != x[3]) return bad(c, fmt::format("expected data and weight of as many channels, found {} and {}", shape_text(x), shape_text(w)));
  TW_TRY(const Window window, window_of(c, {w[0], w[1]}, Channels::last));
  TW_TRY(const Dims spatial, window_result(c, window, x, false));
  return result(c, operand(c, 0).dtype, window.image<int64_t>(x[0], kDepthwise ? w[2] * w[3] : w[3], spatial));
}

/// What a window without a border reads. It is an op all the same, as where there is one: the stages of others' records are counted.
te::Tensor bordered(te::DagBuilder& b, const te::Tensor& x, const Window& w) {
  if (w.padded()) return pad_spatial(b, x, w.pad_before, w.pad_after, 0, Channels::last);
  return b.compute("pad", x.shape(), [&](const Indices& i) { return x.at(i); }, "pad", {{"pads", Dims(4, 0)}});
}

/// Spelled as TVM's operator library does it, so that records of its tasks are of these.
template <bool kDepthwise>
Tensors conv_nhwc_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& weight = *in[1];
  const Dims& w = weight.shape();
  TW_TRY(const Window window, window_of(c, {w[0], w[1]}, Channels::last));
  const te::Tensor data = bordered(b, *in[0], window);
  const auto body = [&](const Indices& s, const Indices& r) {
    const Expr from = kDepthwise ? ir::floor_div(s[3], ir::index(w[3])) : r[2];
    const Expr filter = kDepthwise ? ir::floor_mod(s[3], ir::index(w[3])) : s[3];
    return data.at(window_index(window, s[0], from, window.spatial(s), std::span(r).first(2))) * weight(r[0], r[1], from, filter);
  };
  const Dims reduced = kDepthwise ? Dims{w[0], w[1]} : Dims{w[0], w[1], w[2]};
  return std::vector{b.reduce(c.node->op, c.outputs[0].shape, reduced, te::Reducer::sum, body, c.node->op,
                              {{"strides", window.strides}, {"pads", c.node->attrs.integers("pads", Dims(4, 0))}, {"dilations", window.dilations}})};
}

}  // namespace

std::vector<OpDef> conv_nhwc() {
  return {
      {"conv2d_nhwc", FusionKind::out_elementwise_fusable, infer_conv_nhwc<false>, conv_nhwc_to_te<false>, kArithmetic,
       "Convolution over [N, H, W, C] with weight [KH, KW, C, O]"},
      {"depthwise_conv2d_nhwc", FusionKind::out_elementwise_fusable, infer_conv_nhwc<true>, conv_nhwc_to_te<true>, kArithmetic,
       "Convolution over [N, H, W, C] of every channel by itself, with weight [KH, KW, C, M] for M results of each"},
  };
}

}  // namespace tw::graph::ops
