// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/types.h"

#include <llvm/IR/Intrinsics.h>

#include <cmath>

namespace tw::codegen {

namespace {

llvm::Type* with_lanes(llvm::Type* element, int lanes) { return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes)); }

/// `shape`'s number of lanes with another element type.
llvm::Type* like(llvm::Type* shape, llvm::Type* element) {
  if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(shape)) return llvm::FixedVectorType::get(element, v->getNumElements());
  return element;
}

llvm::Value* bfloat_to_float(Builder& b, llvm::Value* bits16) {
  llvm::Type* i32 = like(bits16->getType(), b.getInt32Ty());
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits16, i32), int_constant(i32, 16)), like(i32, b.getFloatTy()));
}

/// Adds half of the last kept bit, plus that bit itself so that ties go to even. A NaN keeps its sign and becomes quiet.
llvm::Value* float_to_bfloat(Builder& b, llvm::Value* v) {
  llvm::Type* i32 = like(v->getType(), b.getInt32Ty());
  llvm::Value* bits = b.CreateBitCast(v, i32);
  llvm::Value* last = b.CreateAnd(b.CreateLShr(bits, int_constant(i32, 16)), int_constant(i32, 1));
  llvm::Value* rounded = b.CreateAdd(b.CreateAdd(bits, int_constant(i32, 0x7fff)), last);
  llvm::Value* quiet = b.CreateOr(bits, int_constant(i32, 0x400000));
  llvm::Value* kept = b.CreateSelect(b.CreateFCmpUNO(v, v), quiet, rounded);
  return b.CreateTrunc(b.CreateLShr(kept, int_constant(i32, 16)), like(i32, b.getInt16Ty()));
}

bool is_half(DType t) { return t.code == TypeCode::float_ && t.bits == 16; }
bool is_bfloat(DType t) { return t.code == TypeCode::bfloat; }

/// The float towards zero, its last bit set where it is not exact: rounding that to 16 bits rounds the double once (see base/host_array.cpp).
llvm::Value* double_to_odd_float(Builder& b, llvm::Value* v) {
  llvm::Type *f32 = like(v->getType(), b.getFloatTy()), *i32 = like(v->getType(), b.getInt32Ty());
  llvm::Value* nearest = b.CreateFPTrunc(v, f32);
  llvm::Value* back = b.CreateFPExt(nearest, v->getType());
  llvm::Value* bits = b.CreateBitCast(nearest, i32);
  llvm::Value* beyond = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back), b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v));
  llvm::Value* towards_zero = b.CreateSelect(beyond, b.CreateSub(bits, int_constant(i32, 1)), bits);
  llvm::Value* odd = b.CreateOr(towards_zero, int_constant(i32, 1));
  return b.CreateBitCast(b.CreateSelect(b.CreateFCmpUNE(back, v), odd, bits), f32);
}

/// Vectors to int32 or int64, whose largest number the float may not have: it is put where numbers reach the one behind it.
llvm::Value* float_to_wide_int(Builder& b, DType to, llvm::Value* v) {
  llvm::Type* type = value_type(b.getContext(), to);
  const double behind = std::ldexp(1.0, to.bits - 1), digits = v->getType()->getScalarType()->isFloatTy() ? 24 : 53;
  const auto constant = [&](double c) { return llvm::ConstantFP::get(v->getType(), c); };
  llvm::Value* number = b.CreateSelect(b.CreateFCmpUNO(v, v), constant(0), v);
  number = b.CreateSelect(b.CreateFCmpOGT(number, constant(-behind)), number, constant(-behind));
  const double last = to.bits <= digits ? behind - 1 : behind - std::ldexp(1.0, to.bits - 1 - static_cast<int>(digits));
  llvm::Value* converted = b.CreateFPToSI(b.CreateSelect(b.CreateFCmpOLT(number, constant(last)), number, constant(last)), type);
  return b.CreateSelect(b.CreateFCmpOGE(number, constant(behind)), llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(static_cast<unsigned>(to.bits))),
                        converted);
}

/// Numbers out of range become the nearest of the range, no number 0. LLVM takes vectors apart for its own saturating conversions; limits before the conversion
/// do the same.
llvm::Value* float_to_int(Builder& b, DType to, llvm::Value* v) {
  llvm::Type* type = value_type(b.getContext(), to);
  if (to.bits >= 32 && to.is_signed() && v->getType()->isVectorTy()) return float_to_wide_int(b, to, v);
  if (to.bits >= 32) return b.CreateIntrinsic(to.is_signed() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat, {type, v->getType()}, {v});
  const double low = to.is_signed() ? -std::ldexp(1.0, to.bits - 1) : 0, high = std::ldexp(1.0, to.bits - (to.is_signed() ? 1 : 0)) - 1;
  llvm::Value* zero = llvm::Constant::getNullValue(v->getType());
  llvm::Value* number = to.is_signed() ? b.CreateSelect(b.CreateFCmpUNO(v, v), zero, v) : v;
  for (const auto& [limit, beyond] : {std::pair(low, llvm::CmpInst::FCMP_OGT), std::pair(high, llvm::CmpInst::FCMP_OLT)}) {
    llvm::Value* c = llvm::ConstantFP::get(v->getType(), limit);
    number = b.CreateSelect(b.CreateFCmp(beyond, number, c), number, c);  // of no number the limit: the lower one, which is 0
  }
  return b.CreateTrunc(b.CreateFPToSI(number, like(v->getType(), b.getInt32Ty())), type);
}

}  // namespace

DType compute_type(DType t) { return t.is_float() && t.bits == 16 ? kFloat32.with_lanes(t.lanes) : t; }

llvm::Type* value_type(llvm::LLVMContext& context, DType t) {
  if (t.is_bool()) return with_lanes(llvm::Type::getInt1Ty(context), t.lanes);
  if (t.is_int()) return with_lanes(llvm::Type::getIntNTy(context, t.bits), t.lanes);
  return with_lanes(t.bits == 64 ? llvm::Type::getDoubleTy(context) : llvm::Type::getFloatTy(context), t.lanes);
}

llvm::Type* memory_type(llvm::LLVMContext& context, DType t) {
  if (t.is_bool()) return with_lanes(llvm::Type::getInt8Ty(context), t.lanes);
  if (is_half(t)) return with_lanes(llvm::Type::getHalfTy(context), t.lanes);
  if (is_bfloat(t)) return with_lanes(llvm::Type::getInt16Ty(context), t.lanes);
  return value_type(context, t);
}

llvm::Value* from_memory(Builder& b, DType t, llvm::Value* v) {
  if (t.is_bool()) return b.CreateICmpNE(v, int_constant(v->getType(), 0));
  if (is_half(t)) return b.CreateFPExt(v, value_type(b.getContext(), t));
  if (is_bfloat(t)) return bfloat_to_float(b, v);
  return v;
}

llvm::Value* to_memory(Builder& b, DType t, llvm::Value* v) {
  if (t.is_bool()) return b.CreateZExt(v, memory_type(b.getContext(), t));
  if (is_half(t)) return b.CreateFPTrunc(v, memory_type(b.getContext(), t));
  if (is_bfloat(t)) return float_to_bfloat(b, v);
  return v;
}

llvm::Constant* int_constant(llvm::Type* type, int64_t value) { return llvm::ConstantInt::get(type, static_cast<uint64_t>(value), true); }

llvm::Constant* float_constant(llvm::LLVMContext& context, DType t, double value) {
  llvm::Type* type = value_type(context, t);
  if (t.bits != 16) return llvm::ConstantFP::get(type, value);
  llvm::APFloat v(value);
  bool loses = false;
  v.convert(is_half(t) ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &loses);
  v.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return llvm::ConstantFP::get(type, v);
}

llvm::Value* emit_cast(Builder& b, DType from, DType to, llvm::Value* v) {
  llvm::Type* type = value_type(b.getContext(), to);
  if (to.is_bool()) {
    if (from.is_bool()) return v;
    if (from.is_float()) return b.CreateFCmpUNE(v, llvm::Constant::getNullValue(v->getType()));
    return b.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
  }
  if (to.is_int()) {
    if (from.is_float()) return float_to_int(b, to, v);
    return from.is_signed() ? b.CreateSExtOrTrunc(v, type) : b.CreateZExtOrTrunc(v, type);
  }
  llvm::Value* wide = v;
  // What float cannot hold goes to 16 bits by way of double, or it would be rounded twice.
  const bool by_double = to.bits == 16 && (from.is_float() ? from.bits == 64 : from.bits >= 32);
  llvm::Type* next = by_double ? like(type, b.getDoubleTy()) : type;
  if (!from.is_float())
    wide = from.is_signed() ? b.CreateSIToFP(v, next) : b.CreateUIToFP(v, next);
  else if (wide->getType() != next)
    wide = b.CreateFPCast(v, next);
  if (by_double) wide = double_to_odd_float(b, wide);
  if (to.bits == 16 && to != from) return from_memory(b, to, to_memory(b, to, wide));
  return wide;
}

}  // namespace tw::codegen
