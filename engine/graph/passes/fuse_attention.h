// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Joins the kernels of an attention into one: the product of queries and keys with what is done to it element by element, its softmax along the keys, and the
/// product with the values, if nobody else reads what passes between them. Only for processors; a graph without groups stays as it is.
Expected<Graph> fuse_attention(const Graph& g, const Target& target);

}  // namespace tw::graph
