// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lower/placement.h"

namespace tw::lower {

/// The loop nest of a root stage with all that is computed inside it, inside the loops over blocks and threads if it has any.
/// Errors: illegal_schedule where a warp's tile is computed or read otherwise than its threads hold it.
Expected<tir::Stmt> write_nest(const Plan& plan, const Arrays& arrays, int root);

}  // namespace tw::lower
