// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Canonical index arithmetic under the ranges of loops and the conditions around; conditions that always or never hold go, loops of one iteration too.
/// Rewrite: for i in [0, 8) { if i < 10 { A[(i*4 + j) // 4] = x } }  =>  for i in [0, 8) { A[i] = x }   (0 <= j < 4)
Func simplify(const Func& f, const Target& target);

}  // namespace tw::tir
