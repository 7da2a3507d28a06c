// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "engine/base/expected.h"
#include "engine/ir/expr.h"

/// The typing rules of expressions as questions, for texts and verifiers that must answer with an error where the makers assert.
/// Each gives the reason why the operand types do not fit, or an empty string.
namespace tw::ir {

std::string binary_problem(BinaryOp op, DType a, DType b);
std::string not_problem(DType a);
std::string select_problem(DType cond, DType if_true, DType if_false);
std::string cast_problem(DType to, DType from);
std::string ramp_problem(DType base, DType stride, int64_t lanes);
std::string broadcast_problem(DType value, int64_t lanes);
std::string call_problem(Intrinsic f, std::span<const DType> args);
/// Index counts are the rank, or one flat index in elements.
std::string load_problem(const BufferNode& buffer, std::span<const DType> indices);

/// Vectors have 2 to this many lanes.
inline constexpr int64_t kMaxLanes = 1024;

/// Checks every node of `e` by the rules above, and that integer constants are in their type's range.
/// Errors: internal, with the offending subexpression printed.
Expected<void> check_types(const Expr& e);
/// Whether an integer constant of type t can hold `value` (uint64 keeps its bits in an int64).
bool int_in_range(DType t, int64_t value);

}  // namespace tw::ir
