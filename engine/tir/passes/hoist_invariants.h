// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Conditions that do not depend on a loop move out of it.
/// Rewrite: for i { if c { S } }        =>  if c { for i { S } }   (c does not use i)
///          for i { A; if c { S }; B }  =>  if c { for i { A; S; B } } else { for i { A; B } }, for small bodies
Func hoist_invariants(const Func& f, const Target& target);

}  // namespace tw::tir
