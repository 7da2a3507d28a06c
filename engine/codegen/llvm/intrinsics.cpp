// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/intrinsics.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <limits>

#include "engine/codegen/llvm/f32_math.h"

namespace tw::codegen {

using ir::Intrinsic;
using llvm::Value;

namespace {

Value* call_per_lane(ModuleState& state, Builder& b, Intrinsic f, DType t, const std::vector<Value*>& args) {
  llvm::Type* element = value_type(state.context(), t.element());
  auto* type = llvm::FunctionType::get(element, std::vector<llvm::Type*>(args.size(), element), false);
  const std::string name = std::string(ir::intrinsic_name(f)) + (t.bits == 64 ? "" : "f");
  llvm::FunctionCallee callee = state.module.getOrInsertFunction(name, type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  if (t.lanes == 1) return b.CreateCall(callee, args);
  Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (int i = 0; i < t.lanes; ++i) {
    std::vector<Value*> lane;
    for (Value* a : args) lane.push_back(b.CreateExtractElement(a, i));
    result = b.CreateInsertElement(result, b.CreateCall(callee, lane), i);
  }
  return result;
}

/// 1 / (1 + exp(-x)) without overflow: exp is only taken of -|x|.
Value* sigmoid64(ModuleState& state, Builder& b, DType t, Value* x) {
  llvm::Constant* one = llvm::ConstantFP::get(x->getType(), 1.0);
  Value* e = call_per_lane(state, b, Intrinsic::exp, t, {b.CreateFNeg(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x))});
  Value* s = b.CreateFDiv(one, b.CreateFAdd(one, e));
  return b.CreateSelect(b.CreateFCmpOLT(x, llvm::Constant::getNullValue(x->getType())), b.CreateFMul(e, s), s);
}

/// Functions that are instructions of (nearly) every processor; null for the others.
Value* emit_native(Builder& b, Intrinsic f, Value* x) {
  switch (f) {
    case Intrinsic::sqrt:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case Intrinsic::rsqrt:
      return b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0), b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case Intrinsic::fabs:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    case Intrinsic::floor:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case Intrinsic::ceil:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
    case Intrinsic::trunc:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
    case Intrinsic::round:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
    case Intrinsic::isnan:
      return b.CreateFCmpUNO(x, x);
    case Intrinsic::isinf:
      return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), llvm::ConstantFP::get(x->getType(), std::numeric_limits<double>::infinity()));
    default:
      return nullptr;
  }
}

/// Integers and booleans: only the functions that mean something for them; null for the others.
Value* emit_on_ints(Builder& b, Intrinsic f, DType t, Value* x) {
  switch (f) {
    case Intrinsic::fabs:
      return t.is_signed() ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse()) : x;
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::round:
    case Intrinsic::trunc:
      return x;
    case Intrinsic::isnan:
    case Intrinsic::isinf:
      return llvm::Constant::getNullValue(value_type(b.getContext(), kBool.with_lanes(t.lanes)));
    default:
      return nullptr;
  }
}

}  // namespace

Value* emit_intrinsic(ModuleState& state, Builder& b, Intrinsic f, DType type, const std::vector<Value*>& args) {
  if (f == Intrinsic::float_bits || f == Intrinsic::bits_float) {
    type.code = f == Intrinsic::float_bits ? TypeCode::uint : TypeCode::float_;
    return b.CreateBitCast(args[0], value_type(b.getContext(), type));
  }
  if (!type.is_float()) return emit_on_ints(b, f, type, args[0]);
  if (Value* v = emit_native(b, f, args[0])) return v;
  const DType t = compute_type(type);
  if (t.bits == 32) {
    F32Math math(b, t.lanes, state.features);
    switch (f) {
      case Intrinsic::exp:
        return math.exp(args[0]);
      case Intrinsic::log:
        return math.log(args[0]);
      case Intrinsic::tanh:
        return math.tanh(args[0]);
      case Intrinsic::sigmoid:
        return math.sigmoid(args[0]);
      case Intrinsic::erf:
        return math.erf(args[0]);
      default:
        break;
    }
  }
  if (f == Intrinsic::sigmoid) return sigmoid64(state, b, t, args[0]);
  return call_per_lane(state, b, f, t, args);
}

}  // namespace tw::codegen
