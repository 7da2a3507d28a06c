// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/window.h"

#include <algorithm>

namespace tw::graph::ops {

bool Window::padded() const {
  const auto positive = [](int64_t p) { return p > 0; };
  return std::any_of(pad_before.begin(), pad_before.end(), positive) || std::any_of(pad_after.begin(), pad_after.end(), positive);
}

Expected<void> check_convolved(const OpContext& c, int spatial) {
  TW_CHECK(check_operands(c, 2, 3));
  for (const size_t operand : {size_t{0}, size_t{1}}) TW_CHECK(check_rank(c, operand, spatial + 2));
  return check_same_dtype(c, 0, 1);
}

Expected<Window> window_of(const OpContext& c, Dims kernel, Channels channels) {
  const size_t n = kernel.size();
  Window w;
  w.channels = channels;
  w.kernel = std::move(kernel);
  for (const int64_t k : w.kernel)
    if (k < 1) return bad(c, fmt::format("expected a kernel of at least 1 in every dimension, found {}", shape_text(w.kernel)));
  TW_TRY(w.strides, integers_attr(c, "strides", n, 1, 1));
  TW_TRY(w.dilations, integers_attr(c, "dilations", n, 1, 1));
  TW_TRY(const Dims pads, integers_attr(c, "pads", 2 * n, 0, 0));
  w.pad_before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n));
  w.pad_after.assign(pads.begin() + static_cast<std::ptrdiff_t>(n), pads.end());
  return w;
}

Expected<Dims> window_result(const OpContext& c, const Window& w, const Dims& input_shape, bool ceil_mode) {
  Dims out;
  for (size_t d = 0; d < w.kernel.size(); ++d) {
    const int64_t in = input_shape[w.dim(d)];
    const int64_t room = in + w.pad_before[d] + w.pad_after[d] - w.span(d);
    if (room < 0)
      return bad(c, fmt::format("expected a window that fits into dimension {} of {} with its padding, found one of {} elements", w.dim(d),
                                shape_text(input_shape), w.span(d)));
    int64_t n = room / w.strides[d] + 1;
    if (ceil_mode) {
      n = (room + w.strides[d] - 1) / w.strides[d] + 1;
      if ((n - 1) * w.strides[d] >= in + w.pad_before[d]) --n;
    }
    out.push_back(n);
  }
  return out;
}

te::Tensor pad_spatial(te::DagBuilder& b, const te::Tensor& x, const Dims& before, const Dims& after, double value, Channels channels) {
  const size_t first = channels == Channels::second ? 2 : 1;
  Dims shape = x.shape();
  Dims attr;
  for (size_t d = 0; d < before.size(); ++d) shape[d + first] += before[d] + after[d];
  attr.insert(attr.end(), before.begin(), before.end());
  attr.insert(attr.end(), after.begin(), after.end());
  const auto body = [&](const Indices& i) {
    Indices at = i;
    Expr inside = ir::bool_imm(true);
    for (size_t d = 0; d < before.size(); ++d) {
      const Expr& p = i[d + first];
      if (before[d] > 0) inside = inside && ir::index(before[d]) <= p;
      if (after[d] > 0) inside = inside && p < ir::index(before[d] + x.shape()[d + first]);
      at[d + first] = p - before[d];
    }
    return ir::select(inside, x.at(at), ir::constant(x.dtype(), value));
  };
  return b.compute("pad", std::move(shape), body, "pad", {{"pads", attr}});
}

Indices window_index(const Window& w, Expr n, Expr c, std::span<const Expr> o, std::span<const Expr> k) {
  Indices at;
  for (size_t d = 0; d < o.size(); ++d) at.push_back(o[d] * w.strides[d] + k[d] * w.dilations[d]);
  return w.image<Expr>(std::move(n), std::move(c), at);
}

}  // namespace tw::graph::ops
