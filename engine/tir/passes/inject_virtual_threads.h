// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Runs the virtual threads of a thread interleaved: statements that depend on one are repeated for each, innermost, as an unrolled loop; others, such as the
/// filling of shared arrays, happen once. Local arrays that hold what depends on a virtual thread get a leading dimension for it.
///     for v in vthread(2) { local t; for k { S[tx] = ...; t += S[v] } }   =>   local t[2]; for k { S[tx] = ...; unroll v { t[v] += S[v] } }
/// Only inside loops bound to blocks and threads.
/// Source: Chen et al., TVM, OSDI 2018 (virtual threads).
Func inject_virtual_threads(const Func& f, const Target& target);

}  // namespace tw::tir
