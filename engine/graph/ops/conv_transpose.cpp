// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/window.h"

namespace tw::graph::ops {

namespace {

/// Data [N, C, spatial...], weight [C, O / groups, kernel...], optional bias [O]; attribute output_padding extends the far end.
template <int kSpatial>
Types infer(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 3));
  TW_CHECK(check_rank(c, 0, kSpatial + 2));
  TW_CHECK(check_rank(c, 1, kSpatial + 2));
  TW_CHECK(check_same_dtype(c, 0, 1));
  const Dims &x = operand(c, 0).shape, &w = operand(c, 1).shape;
  const int64_t groups = c.node->attrs.integer("groups", 1);
  if (groups < 1 || x[1] % groups != 0 || w[0] != x[1])
    return bad(c, fmt::format("expected data and weight that fit {} groups, found {} and {}", groups, shape_text(x), shape_text(w)));
  const int64_t channels = w[1] * groups;
  if (has_operand(c, 2) && operand(c, 2).shape != Dims{channels})
    return bad(c, fmt::format("expected a bias of shape [{}], found {}", channels, shape_text(operand(c, 2).shape)));
  TW_TRY(const Window window, window_of(c, Dims(w.begin() + 2, w.end())));
  TW_TRY(const Dims extra, integers_attr(c, "output_padding", kSpatial, 0, 0));
  Dims shape{x[0], channels};
  for (size_t d = 0; d < kSpatial; ++d) {
    if (extra[d] >= window.strides[d] && extra[d] >= window.dilations[d] && extra[d] > 0)
      return bad(c, fmt::format("expected output padding below the stride or dilation, found {} in dimension {}", extra[d], d));
    shape.push_back((x[d + 2] - 1) * window.strides[d] + window.span(d) + extra[d] - window.pad_before[d] - window.pad_after[d]);
  }
  return result(c, operand(c, 0).dtype, std::move(shape));
}

/// The input with strides - 1 zeros between its elements and enough around them for a plain convolution with the flipped kernel.
te::Tensor dilate(te::DagBuilder& b, const te::Tensor& x, const Window& w, const Dims& out) {
  Dims shape{x.shape()[0], x.shape()[1]};
  for (size_t d = 0; d < w.kernel.size(); ++d) shape.push_back(out[d + 2] + w.span(d) - 1);
  const auto body = [&](const Indices& i) {
    Indices at{i[0], i[1]};
    Expr inside = ir::bool_imm(true);
    for (size_t d = 0; d < w.kernel.size(); ++d) {
      const int64_t s = w.strides[d];
      const Expr p = i[d + 2] + (w.pad_before[d] - (w.span(d) - 1));
      inside = inside && ir::index(0) <= p && p < ir::index((x.shape()[d + 2] - 1) * s + 1);
      if (s > 1) inside = inside && ir::equal(ir::floor_mod(p, ir::index(s)), ir::index(0));
      at.push_back(ir::floor_div(p, ir::index(s)));
    }
    return ir::select(inside, x.at(at), ir::zero(x.dtype()));
  };
  return b.compute("dilate", std::move(shape), body, "dilate", {{"strides", w.strides}});
}

template <int kSpatial>
Tensors to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& weight = *in[1];
  const Dims& ws = weight.shape();
  const int64_t groups = c.node->attrs.integer("groups", 1);
  const int64_t in_per_group = ws[0] / groups, out_per_group = ws[1];
  TW_TRY(Window w, window_of(c, Dims(ws.begin() + 2, ws.end())));
  const te::Tensor data = dilate(b, *in[0], w, c.outputs[0].shape);
  Dims reduced = w.kernel;
  reduced.insert(reduced.begin(), in_per_group);
  const auto body = [&](const Indices& s, const Indices& r) {
    const Expr channel = groups == 1 ? r[0] : ir::floor_div(s[1], ir::index(out_per_group)) * in_per_group + r[0];
    Indices data_at{s[0], channel}, weight_at{channel, groups == 1 ? s[1] : ir::floor_mod(s[1], ir::index(out_per_group))};
    for (size_t d = 0; d < kSpatial; ++d) {
      data_at.push_back(s[d + 2] + r[d + 1] * w.dilations[d]);
      weight_at.push_back(ir::index(w.kernel[d] - 1) - r[d + 1]);
    }
    return data.at(data_at) * weight.at(weight_at);
  };
  te::Tensor out = b.reduce(c.node->op, c.outputs[0].shape, std::move(reduced), te::Reducer::sum, body, c.node->op,
                            {{"strides", w.strides}, {"dilations", w.dilations}, {"groups", {groups}}});
  if (has_operand(c, 2)) {
    const te::Tensor plain = out;
    out = b.compute("bias_add", plain.shape(), [&](const Indices& i) { return plain.at(i) + (*in[2])(i[1]); });
  }
  return std::vector{out};
}

constexpr const char* kSummary = "Transposed convolution: the gradient of a convolution by its data, with weight [C, O/groups, kernel...] and optional bias";

}  // namespace

std::vector<OpDef> conv_transpose() {
  return {
      {"conv1d_transpose", FusionKind::out_elementwise_fusable, infer<1>, to_te<1>, kArithmetic, kSummary},
      {"conv2d_transpose", FusionKind::out_elementwise_fusable, infer<2>, to_te<2>, kArithmetic, kSummary},
      {"conv3d_transpose", FusionKind::out_elementwise_fusable, infer<3>, to_te<3>, kArithmetic, kSummary},
  };
}

}  // namespace tw::graph::ops
