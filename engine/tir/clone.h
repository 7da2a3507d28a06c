// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ir/visit.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// A copy of `s` with variables replaced by `map` and every loop, let and allocation inside bound to a fresh identity,
/// so that the copy may stand beside the original. Shares whatever binds nothing and uses nothing replaced.
Stmt clone_with(const Stmt& s, const ir::VarMap& map);

/// The same with no statement in two places (passes share what they copy unchanged), so that each stands in one line of a text.
Stmt unshared(const Stmt& s);

}  // namespace tw::tir
