// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Conditions that do not depend on a loop move out of it; they may read arrays that the loop does not write.
/// Rewrite: for i { if c { S } }        =>  if c { for i { S } }   (c does not use i)
///          for i { A; if c { S }; B }  =>  if c { for i { A; S; B } } else { for i { A; B } }, for small bodies
///          for i { A[vector] = c ? x : y }  =>  if c { for i { A[vector] = x } } else { for i { A[vector] = y } }
Func hoist_invariants(const Func& f, const Target& target);

}  // namespace tw::tir
