// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// A reduction over a vectorised loop gets one accumulator a lane (and one vector of them for each turn of the unrolled loops around), which are combined
/// pairwise at the end. The order of additions changes, as the schedule asked for.
/// Rewrite: for r { for v in vectorized(4) { S[i] = S[i] + A[r*4 + v] } }
///      =>  P[0:4] = 0; for r { for v in vectorized(4) { P[v] = P[v] + A[r*4 + v] } }; P[0:2] = P[0:2] + P[2:4]; P[0] = P[0] + P[1]; S[i] = S[i] + P[0]
/// Source: reductions of OpenMP's `simd`; rfactor of Halide (Suriana et al., CGO 2017) writes the same as two stages.
Func vectorize_reductions(const Func& f, const Target& target);

}  // namespace tw::tir
