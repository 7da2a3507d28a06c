// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/ir/expr.h"

namespace tw::ir {

/// offset + sum of coefficient * slot + lane_step * lane, with the least and greatest value that it takes. No operation on it overflows.
struct EvalAffine {
  int64_t offset = 0, lane_step = 0;
  std::vector<std::pair<int, int64_t>> terms;  ///< slot, coefficient
  int64_t lo = 0, hi = 0;
};

/// Where variables are kept and what they can hold.
struct EvalRanges {
  const std::unordered_map<const VarNode*, int>& slots;
  const std::unordered_map<int, std::pair<int64_t, int64_t>>& ranges;
};

/// An int64 expression as an affine form over variables of known range; nothing if it is none, or its numbers get large.
std::optional<EvalAffine> affine_form(const Expr& e, const EvalRanges& r);
/// a * scale + b; nothing if its numbers get large.
std::optional<EvalAffine> affine_sum(const EvalAffine& a, int64_t scale, const EvalAffine& b);

}  // namespace tw::ir
