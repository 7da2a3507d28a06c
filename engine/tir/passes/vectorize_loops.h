// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Vectorised loops become vector expressions: the variable turns into a ramp. A loop whose body branches on the variable stays a scalar loop.
/// Rewrite: for v in vectorized(16) { C[i*16 + v] = A[k] * B[v] }  =>  C[ramp(i*16, 1, 16)] = broadcast(A[k], 16) * B[ramp(0, 1, 16)]
Func vectorize_loops(const Func& f, const Target& target);

}  // namespace tw::tir
