// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Vectorised loops become vector expressions: the variable turns into a ramp. A branch on the variable gets a vector condition, which is a mask:
/// only the lanes where it holds are computed and stored.
/// Rewrite: for v in vectorized(16) { C[i*16 + v] = A[k] * B[v] }  =>  C[ramp(i*16, 1, 16)] = broadcast(A[k], 16) * B[ramp(0, 1, 16)]
Func vectorize_loops(const Func& f, const Target& target);

}  // namespace tw::tir
