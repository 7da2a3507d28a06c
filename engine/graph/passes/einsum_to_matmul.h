// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/target/target.h"

namespace tw::graph {

/// Einstein sums of two operands that are products of matrices become such: letters of both operands that the output has are a batch, those that it lacks are
/// summed over, and what one operand has alone are rows and columns. Where nothing is summed they are multiplied element by element. Of more operands two at a
/// time are taken, those first that cost least. Others stay.
/// Rewrite: bihd,bjhd->bhij  =>  matmul(transpose(a, bhid), transpose(b, bhdj))
Expected<Graph> einsum_to_matmul(const Graph& g, const Target& target);

}  // namespace tw::graph
