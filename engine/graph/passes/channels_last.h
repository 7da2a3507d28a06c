// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Rewrite: conv2d(x, w)  =>  transpose(conv2d_nhwc(transpose(x), w')), and so for convolutions of every channel by itself and for pools; transpositions then meet
/// behind elementwise work and disappear in pairs. Biases become additions. Convolutions of groups stay as they are.
Expected<Graph> channels_last(const Graph& g, const Target& target);

}  // namespace tw::graph
