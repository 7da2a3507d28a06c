// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Marks serial loops of constant extent that have a number of stores (ForNode::auto_unroll) to be written out, and takes the numbers off all loops. From inside
/// outwards a loop is marked if every loop in it is written out too, at most eight of them inside each other, and its stores then are no more than its number. A loop that is vectorised is one store; virtual threads stand side by side.
/// Source: the pass UnrollLoop of TVM 0.9 with the pragmas auto_unroll_max_step and unroll_explicit.
Func auto_unroll(const Func& f, const Target& target);

}  // namespace tw::tir
