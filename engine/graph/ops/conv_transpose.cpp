// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/window.h"

namespace tw::graph::ops {

namespace {

/// Data [N, C, spatial...], weight [C, O / groups, kernel...], optional bias [O]; attribute output_padding extends the far end.
template <int kSpatial>
Types infer_conv_transpose(const OpContext& c) {
  TW_CHECK(check_convolved(c, kSpatial));
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

/// Whether every output position meets taps at a fixed distance from each other, so that those between, which would meet zeros, can be left out.
bool skips_taps(const Window& w) {
  for (size_t d = 0; d < w.kernel.size(); ++d)
    if (w.strides[d] > 1 && w.dilations[d] > 1 && w.kernel[d] > 1) return false;
  return true;
}

/// Output position o meets the taps k = (o + p) mod s, k + s, k + 2s, ...: tap number t of them reads input element (o + p) / s - t * dilation.
Tensors gather(te::DagBuilder& b, const std::string& name, const te::Tensor& x, const te::Tensor& weight, const Window& w, int64_t groups, const Dims& out) {
  const size_t spatial = w.kernel.size();
  const int64_t in_per_group = weight.shape()[0] / groups, out_per_group = weight.shape()[1];
  Dims before, after, reduced{in_per_group};
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t taps = (w.kernel[d] + w.strides[d] - 1) / w.strides[d];
    reduced.push_back(taps);
    before.push_back(std::max<int64_t>(0, (taps - 1) * w.dilations[d] - w.pad_before[d] / w.strides[d]));
    after.push_back(std::max<int64_t>(0, (out[d + 2] - 1 + w.pad_before[d]) / w.strides[d] - (x.shape()[d + 2] - 1)));
  }
  const auto positive = [](int64_t n) { return n > 0; };
  const bool padded = std::any_of(before.begin(), before.end(), positive) || std::any_of(after.begin(), after.end(), positive);
  const te::Tensor data = padded ? pad_spatial(b, x, before, after, 0) : x;
  const auto body = [&](const Indices& s, const Indices& r) {
    const Expr channel = groups == 1 ? r[0] : ir::floor_div(s[1], ir::index(out_per_group)) * in_per_group + r[0];
    Indices data_at{s[0], channel}, weight_at{channel, groups == 1 ? s[1] : ir::floor_mod(s[1], ir::index(out_per_group))};
    std::optional<Expr> exists;
    for (size_t d = 0; d < spatial; ++d) {
      const Expr p = s[d + 2] + w.pad_before[d], stride = ir::index(w.strides[d]);
      Expr k = ir::floor_mod(p, stride) + r[d + 1] * w.strides[d];
      data_at.push_back(ir::floor_div(p, stride) - r[d + 1] * w.dilations[d] + before[d]);
      if (w.kernel[d] % w.strides[d] != 0) {
        const Expr inside = k < ir::index(w.kernel[d]);
        exists = exists ? *exists && inside : inside;
      }
      weight_at.push_back(std::move(k));
    }
    const Expr product = data.at(data_at) * weight.at(weight_at);
    return exists ? ir::select(*exists, product, ir::zero(product->dtype)) : product;
  };
  return std::vector{
      b.reduce(name, out, std::move(reduced), te::Reducer::sum, body, name, {{"strides", w.strides}, {"dilations", w.dilations}, {"groups", {groups}}})};
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

/// A plain convolution of the dilated input.
Tensors over_zeros(te::DagBuilder& b, const std::string& name, const te::Tensor& x, const te::Tensor& weight, const Window& w, int64_t groups,
                   const Dims& out) {
  const int64_t in_per_group = weight.shape()[0] / groups, out_per_group = weight.shape()[1];
  const te::Tensor data = dilate(b, x, w, out);
  Dims reduced = w.kernel;
  reduced.insert(reduced.begin(), in_per_group);
  const auto body = [&](const Indices& s, const Indices& r) {
    const Expr channel = groups == 1 ? r[0] : ir::floor_div(s[1], ir::index(out_per_group)) * in_per_group + r[0];
    Indices data_at{s[0], channel}, weight_at{channel, groups == 1 ? s[1] : ir::floor_mod(s[1], ir::index(out_per_group))};
    for (size_t d = 0; d < w.kernel.size(); ++d) {
      data_at.push_back(s[d + 2] + r[d + 1] * w.dilations[d]);
      weight_at.push_back(ir::index(w.kernel[d] - 1) - r[d + 1]);
    }
    return data.at(data_at) * weight.at(weight_at);
  };
  return std::vector{
      b.reduce(name, out, std::move(reduced), te::Reducer::sum, body, name, {{"strides", w.strides}, {"dilations", w.dilations}, {"groups", {groups}}})};
}

Tensors conv_transpose_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const Dims& ws = in[1]->shape();
  TW_TRY(const Window w, window_of(c, Dims(ws.begin() + 2, ws.end())));
  TW_TRY(const auto results, (skips_taps(w) ? gather : over_zeros)(b, c.node->op, *in[0], *in[1], w, c.node->attrs.integer("groups", 1), c.outputs[0].shape));
  const te::Tensor& out = results.front();
  if (!has_operand(c, 2)) return results;
  return std::vector{b.compute("bias_add", out.shape(), [&](const Indices& i) { return out.at(i) + (*in[2])(i[1]); })};
}

constexpr const char* kTransposeSummary =
    "Transposed convolution: the gradient of a convolution by its data, with weight [C, O/groups, kernel...] and optional bias";

}  // namespace

std::vector<OpDef> conv_transpose() {
  return {
      {"conv1d_transpose", FusionKind::out_elementwise_fusable, infer_conv_transpose<1>, conv_transpose_to_te, kArithmetic, kTransposeSummary},
      {"conv2d_transpose", FusionKind::out_elementwise_fusable, infer_conv_transpose<2>, conv_transpose_to_te, kArithmetic, kTransposeSummary},
      {"conv3d_transpose", FusionKind::out_elementwise_fusable, infer_conv_transpose<3>, conv_transpose_to_te, kArithmetic, kTransposeSummary},
  };
}

}  // namespace tw::graph::ops
