// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/window.h"

namespace tw::graph::ops {

namespace {

Expected<Window> pool_window(const OpContext& c, size_t spatial, Channels channels) {
  TW_TRY(Dims kernel, integers_attr(c, "kernel", spatial, 1, 1));
  return window_of(c, std::move(kernel), channels);
}

/// Data [N, C, spatial...] or [N, spatial..., C].
template <int kSpatial, Channels kChannels>
Types infer_pool(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_CHECK(check_rank(c, 0, kSpatial + 2));
  const TensorType& x = operand(c, 0);
  TW_TRY(const Window w, pool_window(c, kSpatial, kChannels));
  for (size_t d = 0; d < kSpatial; ++d)
    if (w.pad_before[d] >= w.span(d) || w.pad_after[d] >= w.span(d))
      return bad(c, fmt::format("expected padding smaller than the window, found {} and {} for a window of {}", w.pad_before[d], w.pad_after[d], w.span(d)));
  TW_TRY(const Dims spatial, window_result(c, w, x.shape, c.node->attrs.integer("ceil_mode", 0) != 0));
  return result(c, x.dtype, w.image<int64_t>(x.shape[0], x.shape[w.channel_dim()], spatial));
}

template <int kSpatial, Channels kChannels>
Types infer_float(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_CHECK(check_float(c, 0));
  return infer_pool<kSpatial, kChannels>(c);
}

/// The input with its padding, extended so that the last window of a ceil-mode result lies inside.
te::Tensor padded_input(te::DagBuilder& b, const te::Tensor& x, const Window& w, const Dims& out, double value) {
  Dims after;
  for (size_t d = 0; d < w.kernel.size(); ++d)
    after.push_back(std::max<int64_t>(0, (out[w.dim(d)] - 1) * w.strides[d] + w.span(d) - x.shape()[w.dim(d)] - w.pad_before[d]));
  if (!w.padded() && *std::max_element(after.begin(), after.end()) == 0) return x;
  return pad_spatial(b, x, w.pad_before, after, value, w.channels);
}

te::Tensor slide(te::DagBuilder& b, const OpContext& c, const te::Tensor& data, const Window& w, te::Reducer reducer, const std::function<Expr(Expr)>& map) {
  return b.reduce(c.node->op, c.outputs[0].shape, w.kernel, reducer,
                  [&](const Indices& s, const Indices& r) { return map(data.at(window_index(w, s[0], s[w.channel_dim()], w.spatial(s), r))); },
                  w.channels == Channels::second ? "pool" : "reduce", {{"strides", w.strides}, {"dilations", w.dilations}});
}

double lowest_of(DType t) {
  const Expr e = ir::lowest(t);
  const auto v = ir::as_int(e);
  return v ? static_cast<double>(*v) : ir::as<ir::FloatImmNode>(e)->value;
}

template <int kSpatial, Channels kChannels>
Tensors max_pool(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const Window w, pool_window(c, kSpatial, kChannels));
  const te::Tensor data = padded_input(b, *in[0], w, c.outputs[0].shape, lowest_of(in[0]->dtype()));
  return std::vector{slide(b, c, data, w, te::Reducer::max, [](Expr e) { return e; })};
}

/// How many elements of the window at output position `o` count towards the mean along dimension d.
/// Without padding counted: those inside the input. With it: those inside the input and its declared padding.
Expr counted(const Window& w, size_t d, int64_t in, const Expr& o, bool count_pad) {
  const Expr start = o * w.strides[d] - (count_pad ? 0 : w.pad_before[d]);
  const int64_t extent = count_pad ? in + w.pad_before[d] + w.pad_after[d] : in;
  const int64_t dil = w.dilations[d];
  // Taps at start + t * dil, t in [0, kernel): the first one at or above 0 and the first one at or above the extent.
  const auto first_at_least = [&](const Expr& bound) {
    return ir::max(ir::index(0), ir::min(ir::index(w.kernel[d]), ir::floor_div(bound + (dil - 1), ir::index(dil))));
  };
  return first_at_least(ir::index(extent) - start) - first_at_least(ir::index(0) - start);
}

/// Types that can bear one rounding more are multiplied: where the count is a constant, and it is almost everywhere, nothing is divided.
Expr mean_of(const Expr& sum, const Expr& count) { return sum->dtype.bits >= 32 ? sum * (number(sum, 1) / count) : sum / count; }

template <int kSpatial, Channels kChannels>
Tensors avg_pool(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const Window w, pool_window(c, kSpatial, kChannels));
  const te::Tensor& x = *in[0];
  const bool count_pad = c.node->attrs.integer("count_include_pad", 0) != 0;
  const te::Tensor data = padded_input(b, x, w, c.outputs[0].shape, 0);
  const bool whole = data.buffer().same_as(x.buffer()) || (count_pad && c.node->attrs.integer("ceil_mode", 0) == 0);
  const te::Tensor sum = slide(b, c, data, w, te::Reducer::sum, [](Expr e) { return e; });
  return std::vector{b.compute("mean", sum.shape(), [&](const Indices& i) {
    if (whole) return mean_of(sum.at(i), ir::constant(x.dtype(), static_cast<double>(product(w.kernel))));
    Expr count = ir::index(1);
    for (size_t d = 0; d < kSpatial; ++d) count = count * counted(w, d, x.shape()[w.dim(d)], i[w.dim(d)], count_pad);
    return mean_of(sum.at(i), ir::cast(x.dtype(), count));
  })};
}

template <int kSpatial, Channels kChannels>
Tensors lp_pool(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const Window w, pool_window(c, kSpatial, kChannels));
  const double p = static_cast<double>(c.node->attrs.integer("p", 2));
  const te::Tensor data = padded_input(b, *in[0], w, c.outputs[0].shape, 0);
  const auto powered = [&](const Expr& e, double to) { return to == 1 ? e : ir::call(ir::Intrinsic::pow, {e, number(e, to)}); };
  const te::Tensor sum = slide(b, c, data, w, te::Reducer::sum, [&](Expr e) { return p == 2 ? e * e : powered(call(ir::Intrinsic::fabs, e), p); });
  if (p == 1) return std::vector{sum};
  return std::vector{
      b.compute("root", sum.shape(), [&](const Indices& i) { return p == 2 ? call(ir::Intrinsic::sqrt, sum.at(i)) : powered(sum.at(i), 1 / p); })};
}

template <int kSpatial>
void append(std::vector<OpDef>& rows, const char* max_name, const char* avg_name, const char* lp_name) {
  constexpr auto kKind = FusionKind::out_elementwise_fusable;
  rows.push_back({max_name, kKind, infer_pool<kSpatial, Channels::second>, max_pool<kSpatial, Channels::second>, kExact, "Maximum over sliding windows; padding never wins"});
  rows.push_back({avg_name, kKind, infer_float<kSpatial, Channels::second>, avg_pool<kSpatial, Channels::second>, kArithmetic, "Mean over sliding windows; count_include_pad counts the padding"});
  rows.push_back({lp_name, kKind, infer_float<kSpatial, Channels::second>, lp_pool<kSpatial, Channels::second>, kTranscendental, "p-norm over sliding windows"});
}

}  // namespace

std::vector<OpDef> pool() {
  std::vector<OpDef> rows;
  append<1>(rows, "max_pool1d", "avg_pool1d", "lp_pool1d");
  append<2>(rows, "max_pool2d", "avg_pool2d", "lp_pool2d");
  append<3>(rows, "max_pool3d", "avg_pool3d", "lp_pool3d");
  constexpr auto kLast = Channels::last;
  rows.push_back({"max_pool2d_nhwc", FusionKind::out_elementwise_fusable, infer_pool<2, kLast>, max_pool<2, kLast>, kExact, "max_pool2d over [N, H, W, C]"});
  rows.push_back({"avg_pool2d_nhwc", FusionKind::out_elementwise_fusable, infer_float<2, kLast>, avg_pool<2, kLast>, kArithmetic, "avg_pool2d over [N, H, W, C]"});
  return rows;
}

}  // namespace tw::graph::ops
