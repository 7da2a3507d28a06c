// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Unrolled loops of constant extent are written out; the register tile becomes constant indices, which LLVM turns into registers.
/// A body that would grow past a limit stays a loop. In functions with launches only loops whose turns choose between expressions, as transforms by small
/// matrices do: compilers for those unroll what is marked, and what is to be written out for them is, when their text is.
Func unroll_loops(const Func& f, const Target& target);

}  // namespace tw::tir
