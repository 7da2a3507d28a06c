// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// combine_parallel for `conv2d`. Convolutions of one group with equal windows.
Expected<Graph> combine_parallel_conv2d(const Graph& g, const Target& target);

}  // namespace tw::graph
