// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Unrolled loops of constant extent are written out; the register tile becomes constant indices, which LLVM turns into registers.
/// A body that would grow past a limit stays a loop.
Func unroll_loops(const Func& f, const Target& target);

}  // namespace tw::tir
