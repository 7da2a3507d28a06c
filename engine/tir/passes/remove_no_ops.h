// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Drops empty loops, empty branches and allocations that nothing writes or reads.
Func remove_no_ops(const Func& f, const Target& target);

}  // namespace tw::tir
