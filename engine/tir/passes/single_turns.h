// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// A loop that changes memory in one of its turns only becomes that turn, as the search for the place of an update: of n places it is computed once.
/// Which one it is may be read from memory that the loop does not write.
/// Rewrite: for o: A[o] = A[o] + (e == o ? x : 0)  =>  if 0 <= e < n: A[e] = A[e] + x
Func single_turns(const Func& f, const Target& target);

}  // namespace tw::tir
