// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Lets the threads of a block wait for each other between accesses of different threads to one element of a shared array of which one is a write: a write and
/// a later read, a read and a later write, also from one iteration of a loop to the next. No barrier stands between accesses that are proven to be of one
/// thread, or of the two halves of a double-buffered array; none is put where only some threads come by.
///     for k { S[tx] = A(k); c += S[ty] }   =>   for k { sync; S[tx] = A(k); sync; c += S[ty] }
/// Source: thread synchronisation of TVM (Chen et al., OSDI 2018); the test for a single thread is our own.
Func insert_barriers(const Func& f, const Target& target);

}  // namespace tw::tir
