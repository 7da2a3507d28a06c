// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Rewrite: matmul(x[a, b, K], w[K, N]) with constant w  =>  reshape(dense(reshape(x, [a*b, K]), transpose(w)), [a, b, N]).
/// The flat form of such products, and of dense layers between reshapes, goes on through elementwise followers, additions of one value per column and layer
/// normalisation, so that they can fuse with the dense layer; reshapes stand only where something else reads the value.
Expected<Graph> matmul_to_dense(const Graph& g, const Target& target);

}  // namespace tw::graph
