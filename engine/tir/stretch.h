// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/tir/stmt.h"

namespace tw::tir {

/// Elements that loops of constant lengths, outermost first, go through one after another: at each turn of the innermost one `lanes` neighbours from `place`
/// on. 0 where they go another way, or where one loop's begin depends on another.
int64_t stretch(const Expr& place, std::span<const ForNode* const> loops, int64_t lanes = 1);

}  // namespace tw::tir
