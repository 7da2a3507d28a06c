// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ir/expr.h"

/// How tightly the written operators bind, shared by printer and parser; Python's order.
namespace tw::ir {

inline constexpr int kLowestPrecedence = 1;
inline constexpr int kNotPrecedence = 3;
inline constexpr int kComparisonPrecedence = 4;
inline constexpr int kPrimaryPrecedence = 11;

/// 0 for operators written as functions (min, max).
constexpr int precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::or_:
      return 1;
    case BinaryOp::and_:
      return 2;
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
      return kComparisonPrecedence;
    case BinaryOp::bit_or:
      return 5;
    case BinaryOp::bit_xor:
      return 6;
    case BinaryOp::bit_and:
      return 7;
    case BinaryOp::shl:
    case BinaryOp::shr:
      return 8;
    case BinaryOp::add:
    case BinaryOp::sub:
      return 9;
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::floor_div:
    case BinaryOp::floor_mod:
      return 10;
    case BinaryOp::min:
    case BinaryOp::max:
      return 0;
  }
  return 0;
}

}  // namespace tw::ir
