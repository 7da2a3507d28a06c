// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/emitter.h"

/// Results that are weighted sums of elements at computed places.
namespace tw::frontends {

/// One element that a result is made of, along one dimension: its place and its share.
struct Tap {
  Term index;   ///< int32, inside of the data
  Term weight;  ///< float
};

/// [N, C, spatial...] with the channels last, so that one row of indices names a whole vector.
int channels_last(Emitter& n, int x);
/// All combinations of one tap of each dimension.
std::vector<std::vector<Tap>> combinations(const std::vector<std::vector<Tap>>& taps);

/// How a grid reads. Source: the ONNX operator reference, GridSample-16 and -20.
struct Sampling {
  std::string mode;     ///< nearest, linear or cubic
  std::string padding;  ///< zeros, border or reflection
  bool align = false;
};

/// Data [N, C, spatial...] at the points of a grid [N, extents..., dimensions] over [-1, 1].
int grid_sampled(Emitter& n, int x, int grid, const Sampling& s);

}  // namespace tw::frontends
