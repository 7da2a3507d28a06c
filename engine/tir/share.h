// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

namespace tw::tir {

/// Whether `output` may lie in the memory of `input` (indices of parameters of equal size), so that the function works in place: every element of the output
/// is stored once, by a statement that reads the input at that element or not at all, and nothing else reads the input or the output.
/// Conservative: a function whose stores cannot be counted, because they stand in one branch and not in the other, or in loops of unknown extent, may not.
/// Code generators may assume that no other parameters overlap.
bool may_share_storage(const Func& f, size_t input, size_t output);

}  // namespace tw::tir
