// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/emitter.h"

namespace tw::frontends {

inline constexpr int64_t kMostResampled = int64_t{1} << 24;  ///< elements along one dimension of a result

/// How one dimension is resampled. Source: Resize and Upsample in the ONNX operator reference.
struct ResampleMode {
  std::string kind;         ///< nearest, linear or cubic
  std::string coordinates;  ///< coordinate_transformation_mode
  std::string nearest;      ///< nearest_mode
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  bool multiplies = false;  ///< places are multiplied by the inverse scale in the data's type, as PyTorch does; ONNX Runtime divides by scales of 32 bits
};
struct ResampleAxis {
  int64_t in, out;
  double scale;
  double start = 0, end = 1;  ///< the region that tf_crop_and_resize shows, as shares of the extent
};

/// Dimension by dimension, one entry of `axes` each: all three kinds are separable.
int resampled(Emitter& n, int v, const ResampleMode& m, const std::vector<ResampleAxis>& axes);
/// Positions outside of the image get one value.
int extrapolated(Emitter& n, int v, const ResampleMode& m, const std::vector<ResampleAxis>& axes, double value);

}  // namespace tw::frontends
