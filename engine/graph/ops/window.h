// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/ops/support.h"

namespace tw::graph::ops {

/// Where the channels of an image stand: [N, C, spatial...] or [N, spatial..., C].
enum class Channels : uint8_t { second, last };

/// How a window moves over the spatial dimensions of an image; all vectors have one entry a spatial dimension.
struct Window {
  Dims kernel, strides, dilations;
  Dims pad_before, pad_after;
  Channels channels = Channels::second;
  /// The dimension of the image that spatial dimension d is.
  size_t dim(size_t d) const { return d + (channels == Channels::second ? 2 : 1); }
  size_t channel_dim() const { return channels == Channels::second ? 1 : kernel.size() + 1; }
  /// The shape or the position of an image.
  template <class T>
  std::vector<T> image(T n, T c, std::span<const T> spatial) const {
    std::vector<T> out{std::move(n)};
    out.insert(out.end(), spatial.begin(), spatial.end());
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(channel_dim()), std::move(c));
    return out;
  }
  /// The spatial part of one.
  template <class T>
  std::span<const T> spatial(const std::vector<T>& image) const { return std::span(image).subspan(dim(0), kernel.size()); }
  int64_t span(size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }
  bool padded() const;
};

/// Data and weight of a convolution over `spatial` dimensions, of one type and of rank spatial + 2 each, and an optional bias.
Expected<void> check_convolved(const OpContext& c, int spatial);

/// Reads strides, pads ([begins..., ends...]) and dilations; `kernel` is given.
/// Errors: wrong lengths, strides or dilations below 1, negative pads.
Expected<Window> window_of(const OpContext& c, Dims kernel, Channels channels = Channels::second);

/// Extents after sliding the window. Windows start inside the input or its leading padding.
/// Errors: a window larger than the padded input.
Expected<Dims> window_result(const OpContext& c, const Window& w, const Dims& input_shape, bool ceil_mode);

/// `x` with `before` and `after` elements of `value` around its spatial dimensions, as an op named and tagged "pad".
te::Tensor pad_spatial(te::DagBuilder& b, const te::Tensor& x, const Dims& before, const Dims& after, double value, Channels channels = Channels::second);

/// `[n, c, o*s + k*d, ...]`, or with the channel last: the element that output position `o` and tap `k` meet.
Indices window_index(const Window& w, Expr n, Expr c, std::span<const Expr> o, std::span<const Expr> k);

}  // namespace tw::graph::ops
