// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/llvm/types.h"
#include "engine/ir/expr.h"

namespace tw::codegen {

/// What is known about the operands of one operation.
struct ArithFacts {
  bool index = false;         ///< index arithmetic: cannot overflow
  bool non_negative = false;  ///< the dividend is never negative
};

/// a op b on values of type t (scalars or vectors), as ir/expr.h defines it.
/// Floats: min is `a < b ? a : b` and max is `a > b ? a : b`, so a NaN on either side gives b (what vminps and vmaxps do).
/// A constant is always taken as a: relu and clamping keep a NaN.
/// Integer division by zero gives 0 and the lowest number divided by -1 wraps: nothing traps.
llvm::Value* emit_binary(Builder& b, ir::BinaryOp op, DType t, llvm::Value* x, llvm::Value* y, const ArithFacts& facts);

}  // namespace tw::codegen
