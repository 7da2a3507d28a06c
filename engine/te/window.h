// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/te/dag.h"

namespace tw::te {

/// A window that slides over a padded image, along one dimension.
struct WindowLine {
  size_t dimension;       ///< of the image
  int64_t image, result;  ///< extents, the image's without its padding
  int64_t taps = 1, stride = 1, dilation = 1;
  int64_t before = 0;  ///< padding before the image

  /// Padding behind the image that the last window reaches into.
  int64_t after() const;
  /// Whether the tap meets the image for some result of a tile.
  bool meets(int64_t tap, int64_t first, int64_t tile) const;
  /// Share of the pairs of a tap and a tile of so many neighbouring results that meet the image: the others add nothing but padding.
  double met(int64_t tile) const;
};

/// Of the dimensions along which the op slides a window over an op of the dag that pads with zeros, in order; of none where it does something else.
std::vector<WindowLine> windows_of(const Dag& dag, const Op& op);

}  // namespace tw::te
