// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace tw::graph {

/// Layers that read one value with constant weights of their own, and may become one layer with all the weights.
struct ParallelLayers {
  const char* op;
  size_t weight_dim;  ///< dimension of the weights that holds the features of the result, from the end if `from_end`
  bool from_end;
  bool (*fits)(const Graph&, const Node&) = nullptr;  ///< what is asked beyond constant weights, if anything
};

/// Rewrite: y_i = layer(x, w_i), i < n  =>  y = layer(x, [w_0, ..., w_n-1]);  y_i = slice(y)
/// Weights may differ in their number of features. Biases, and followers that are equal in all branches (functions of one element, operations with constants
/// that vary along the features only), join the combined layer. Siblings are left alone where the slices would be kernels of their own: all that reads the
/// branches must be data movement, which a slice fuses with.
Expected<Graph> combine_parallel(const Graph& g, const ParallelLayers& layers);

}  // namespace tw::graph
