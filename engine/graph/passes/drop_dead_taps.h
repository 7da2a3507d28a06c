// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Convolutions lose the first and last rows and columns of their window that meet nothing but padding.
/// Rewrite: conv2d(x, w, pads = 36, dilations = 36) of an image of 28x28 with w [O, C, 3, 3]  =>  conv2d(x, w[:, :, 1:2, 1:2], pads = 0)
Expected<Graph> drop_dead_taps(const Graph& g, const Target& target);

}  // namespace tw::graph
