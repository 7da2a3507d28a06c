// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/arith.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

namespace tw::codegen {

using ir::BinaryOp;
using llvm::Value;

namespace {

struct Quotient {
  Value *quotient, *remainder;
};

/// The constant that y is in every lane, or nothing.
std::optional<int64_t> constant_int(Value* y) {
  const llvm::APInt* c = nullptr;
  if (llvm::PatternMatch::match(y, llvm::PatternMatch::m_APInt(c))) return c->getSExtValue();
  return std::nullopt;
}

/// Truncating division that never traps; y is any value.
Quotient divide_checked(Builder& b, Value* x, Value* y, bool is_signed) {
  llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
  llvm::Constant* one = int_constant(x->getType(), 1);
  Value* by_zero = b.CreateICmpEQ(y, zero);
  if (!is_signed) {
    Value* safe = b.CreateSelect(by_zero, one, y);
    return {b.CreateSelect(by_zero, zero, b.CreateUDiv(x, safe)), b.CreateSelect(by_zero, zero, b.CreateURem(x, safe))};
  }
  Value* by_minus_one = b.CreateICmpEQ(y, int_constant(x->getType(), -1));
  Value* safe = b.CreateSelect(b.CreateOr(by_zero, by_minus_one), one, y);
  Value* q = b.CreateSelect(by_minus_one, b.CreateNeg(x), b.CreateSDiv(x, safe));
  return {b.CreateSelect(by_zero, zero, q), b.CreateSelect(by_minus_one, zero, b.CreateSRem(x, safe))};
}

/// Truncating division; a constant divisor other than 0 and -1 needs no care.
Quotient divide(Builder& b, Value* x, Value* y, bool is_signed) {
  const auto c = constant_int(y);
  if (!c || *c == 0 || (is_signed && *c == -1)) return divide_checked(b, x, y, is_signed);
  if (is_signed) return {b.CreateSDiv(x, y), b.CreateSRem(x, y)};
  return {b.CreateUDiv(x, y), b.CreateURem(x, y)};
}

/// Towards minus infinity: one less where the remainder is not zero and its sign differs from the divisor's.
Value* floor_divide(Builder& b, BinaryOp op, DType t, Value* x, Value* y, bool non_negative) {
  const bool want_quotient = op == BinaryOp::floor_div;
  const auto c = constant_int(y);
  if (c && *c > 0 && (*c & (*c - 1)) == 0) {
    if (!want_quotient) return b.CreateAnd(x, int_constant(x->getType(), *c - 1));
    llvm::Constant* shift = int_constant(x->getType(), __builtin_ctzll(static_cast<uint64_t>(*c)));
    return t.is_signed() ? b.CreateAShr(x, shift) : b.CreateLShr(x, shift);
  }
  if (!t.is_signed() || (non_negative && c && *c > 0)) {
    const Quotient q = divide(b, x, y, false);
    return want_quotient ? q.quotient : q.remainder;
  }
  const Quotient q = divide(b, x, y, true);
  llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
  Value* adjust = b.CreateAnd(b.CreateICmpNE(q.remainder, zero), b.CreateICmpSLT(b.CreateXor(q.remainder, y), zero));
  if (want_quotient) return b.CreateSub(q.quotient, b.CreateZExt(adjust, x->getType()));
  return b.CreateAdd(q.remainder, b.CreateSelect(adjust, y, zero));
}

Value* emit_bool(Builder& b, BinaryOp op, Value* x, Value* y) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::max:
    case BinaryOp::or_:
    case BinaryOp::bit_or:
      return b.CreateOr(x, y);
    case BinaryOp::mul:
    case BinaryOp::min:
    case BinaryOp::and_:
    case BinaryOp::bit_and:
      return b.CreateAnd(x, y);
    case BinaryOp::sub:
    case BinaryOp::ne:
    case BinaryOp::bit_xor:
      return b.CreateXor(x, y);
    case BinaryOp::eq:
      return b.CreateNot(b.CreateXor(x, y));
    case BinaryOp::lt:
      return b.CreateAnd(b.CreateNot(x), y);
    case BinaryOp::le:
      return b.CreateOr(b.CreateNot(x), y);
    default:
      return nullptr;
  }
}

Value* emit_float(Builder& b, BinaryOp op, Value* x, Value* y) {
  if ((op == BinaryOp::min || op == BinaryOp::max) && llvm::isa<llvm::Constant>(y)) std::swap(x, y);
  switch (op) {
    case BinaryOp::add:
      return b.CreateFAdd(x, y);
    case BinaryOp::sub:
      return b.CreateFSub(x, y);
    case BinaryOp::mul:
      return b.CreateFMul(x, y);
    case BinaryOp::div:
      return b.CreateFDiv(x, y);
    case BinaryOp::floor_div:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFDiv(x, y));
    case BinaryOp::floor_mod:
      return b.CreateFSub(x, b.CreateFMul(b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFDiv(x, y)), y));
    case BinaryOp::min:
      return b.CreateSelect(b.CreateFCmpOLT(x, y), x, y);
    case BinaryOp::max:
      return b.CreateSelect(b.CreateFCmpOGT(x, y), x, y);
    case BinaryOp::eq:
      return b.CreateFCmpOEQ(x, y);
    case BinaryOp::ne:
      return b.CreateFCmpUNE(x, y);
    case BinaryOp::lt:
      return b.CreateFCmpOLT(x, y);
    case BinaryOp::le:
      return b.CreateFCmpOLE(x, y);
    default:
      return nullptr;
  }
}

/// Shift amounts outside the width give 0 (or the sign), not LLVM's poison.
Value* emit_shift(Builder& b, BinaryOp op, DType t, Value* x, Value* y) {
  llvm::Constant* bits = int_constant(x->getType(), t.bits);
  llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
  Value* inside = b.CreateICmpULT(y, bits);
  Value* safe = b.CreateSelect(inside, y, zero);
  if (op == BinaryOp::shl) return b.CreateSelect(inside, b.CreateShl(x, safe), zero);
  if (!t.is_signed()) return b.CreateSelect(inside, b.CreateLShr(x, safe), zero);
  return b.CreateAShr(x, b.CreateSelect(inside, y, int_constant(x->getType(), t.bits - 1)));
}

Value* emit_int(Builder& b, BinaryOp op, DType t, Value* x, Value* y, const ArithFacts& facts) {
  const bool s = t.is_signed();
  switch (op) {
    case BinaryOp::add:
      return b.CreateAdd(x, y, "", false, facts.index);
    case BinaryOp::sub:
      return b.CreateSub(x, y, "", false, facts.index);
    case BinaryOp::mul:
      return b.CreateMul(x, y, "", false, facts.index);
    case BinaryOp::div:
      return divide(b, x, y, s).quotient;
    case BinaryOp::floor_div:
    case BinaryOp::floor_mod:
      return floor_divide(b, op, t, x, y, facts.non_negative);
    case BinaryOp::min:
      return b.CreateBinaryIntrinsic(s ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, y);
    case BinaryOp::max:
      return b.CreateBinaryIntrinsic(s ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x, y);
    case BinaryOp::eq:
      return b.CreateICmpEQ(x, y);
    case BinaryOp::ne:
      return b.CreateICmpNE(x, y);
    case BinaryOp::lt:
      return s ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
    case BinaryOp::le:
      return s ? b.CreateICmpSLE(x, y) : b.CreateICmpULE(x, y);
    case BinaryOp::bit_and:
      return b.CreateAnd(x, y);
    case BinaryOp::bit_or:
      return b.CreateOr(x, y);
    case BinaryOp::bit_xor:
      return b.CreateXor(x, y);
    case BinaryOp::shl:
    case BinaryOp::shr:
      return emit_shift(b, op, t, x, y);
    default:
      return nullptr;
  }
}

}  // namespace

Value* emit_binary(Builder& b, BinaryOp op, DType t, Value* x, Value* y, const ArithFacts& facts) {
  if (t.is_bool()) return emit_bool(b, op, x, y);
  if (t.is_float()) return emit_float(b, op, x, y);
  return emit_int(b, op, t, x, y, facts);
}

}  // namespace tw::codegen
