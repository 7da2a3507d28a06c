// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engine/arith/analyzer.h"
#include "engine/tir/stmt.h"

/// What passes ask of loops and the conditions inside them. Parts of conditions: ir/conjuncts.h.
namespace tw::tir {

/// Tells the analyzer which values the loop's variable takes.
void bind_loop(arith::Analyzer& facts, const ForNode& n);
/// A condition as `linear <= 0`; nothing if it is not that one index is less than, or at most, another.
std::optional<arith::Linear> non_positive(const Expr& cond, const arith::Analyzer& facts);

}  // namespace tw::tir
