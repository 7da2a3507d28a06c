// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

/// Rewrite: negative axes                       =>  axes counted from the front, those of reductions ascending
///          f(c, x), commutative, c constant    =>  f(x, c); two computed operands stay as they are, so that equal blocks of a network stay equal
///          a > b, a >= b                       =>  b < a, b <= a
///          x - c                               =>  x + (-c)
///          x / c (floating-point)              =>  x * (1 / c), where the rounding of 1 / c stays within the operator's tolerance
///          x ^ 1, x ^ 2, x ^ 3                 =>  x, x squared, x squared times x
Expected<Graph> canonicalize(const Graph& g, const Target& target);

}  // namespace tw::graph
