// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_set>

#include "engine/arith/analyzer.h"

namespace tw::arith {

using FixedVars = std::unordered_set<const ir::VarNode*>;

/// Values that an index takes while some variables stand still and all others run: fixed + [lo, hi].
struct Span {
  Linear fixed;
  int64_t lo = 0, hi = 0;
  int64_t count = 1;  ///< how many of them there are, at most: exact for windows that slide over tiles; hi - lo + 1 where they leave no gaps

  int64_t extent() const { return hi - lo + 1; }
};

/// The values of `e`; nothing where a running part has no bounds. `facts` has the ranges of the variables that run.
/// What an array holds never stands still: it may be computed after the span is asked for.
std::optional<Span> span_of(const ir::Expr& e, const FixedVars& fixed, const Analyzer& facts);

/// Makes `span` hold the values of `other` too, and those between them. As many values between the same ends are taken for the same values. False, with nothing changed, where it is not known how far they lie apart.
bool unite(Span& span, const Span& other);

}  // namespace tw::arith
