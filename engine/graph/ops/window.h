// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/ops/support.h"

namespace tw::graph::ops {

/// How a window moves over the spatial dimensions of [N, C, spatial...]; all vectors have one entry a spatial dimension.
struct Window {
  Dims kernel, strides, dilations;
  Dims pad_before, pad_after;
  int64_t span(size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }
  bool padded() const;
};

/// Data and weight of a convolution over `spatial` dimensions, of one type and of rank spatial + 2 each, and an optional bias.
Expected<void> check_convolved(const OpContext& c, int spatial);

/// Reads strides, pads ([begins..., ends...]) and dilations; `kernel` is given.
/// Errors: wrong lengths, strides or dilations below 1, negative pads.
Expected<Window> window_of(const OpContext& c, Dims kernel);

/// Extents after sliding the window. Windows start inside the input or its leading padding.
/// Errors: a window larger than the padded input.
Expected<Dims> window_result(const OpContext& c, const Window& w, const Dims& input_shape, bool ceil_mode);

/// `x` of [N, C, spatial...] with `before` and `after` elements of `value` around its spatial dimensions, as an op named and tagged "pad".
te::Tensor pad_spatial(te::DagBuilder& b, const te::Tensor& x, const Dims& before, const Dims& after, double value);

/// `[n, c, o*s + k*d, ...]`: the element that output position `o` and tap `k` meet.
Indices window_index(const Window& w, Expr n, Expr c, std::span<const Expr> o, std::span<const Expr> k);

}  // namespace tw::graph::ops
