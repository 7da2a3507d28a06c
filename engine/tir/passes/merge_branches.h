// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Neighbouring branches on one condition become one. The condition must read no memory, so that the first body cannot change it.
/// Rewrite: if c { A }; if c { B }  =>  if c { A; B }
Func merge_branches(const Func& f, const Target& target);
/// The same for what stands directly in `sequence`.
Stmt join_branches(const Stmt& sequence);

}  // namespace tw::tir
