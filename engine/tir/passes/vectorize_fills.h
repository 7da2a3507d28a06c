// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Loops that set neighbouring elements to one constant, one by one, do it in whole vectors; what is left over stays a loop over elements.
/// Rewrite: for i<4 { for j<10 { A[i*10 + j] = 0 } }  =>  for v<2 { A[v*16 : v*16+16] = 0 }; for e<8 { A[32 + e] = 0 }
Func vectorize_fills(const Func& f, const Target& target);

}  // namespace tw::tir
