// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/intrinsics.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/codegen/llvm/f32_math.h"
#include "engine/runtime/library_symbols.h"

namespace tw::codegen {

using ir::Intrinsic;
using llvm::Value;

namespace {

/// Declares a function of the C library that only computes its result from its arguments.
llvm::FunctionCallee pure_function(ModuleState& state, const std::string& name, llvm::Type* value, size_t arguments) {
  llvm::FunctionCallee callee = state.module.getOrInsertFunction(name, llvm::FunctionType::get(value, std::vector<llvm::Type*>(arguments, value), false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  return callee;
}

/// What the C library's functions of vectors are called with on the target: none on processors that are no x86-64.
std::optional<runtime::VectorAbi> vector_abi(const ModuleState& state) {
  using F = target::X86Feature;
  if (!llvm::Triple(state.module.getTargetTriple()).isX86()) return std::nullopt;
  const auto usable = [&](runtime::VectorAbi a) { return runtime::vector_bits(a) <= state.target.vector_bits; };
  if (state.has(F::avx512f) && usable(runtime::VectorAbi::avx512)) return runtime::VectorAbi::avx512;
  if (state.has(F::avx2) && usable(runtime::VectorAbi::avx2)) return runtime::VectorAbi::avx2;
  return runtime::VectorAbi::sse;
}

/// Calls a function of the C library: in whole vectors where it has one for them, else lane by lane.
Value* call_library(ModuleState& state, Builder& b, Intrinsic f, DType t, const std::vector<Value*>& args) {
  llvm::Type* element = value_type(state.context(), t.element());
  const auto scalar = [&] { return pure_function(state, std::string(ir::intrinsic_name(f)) + (t.bits == 64 ? "" : "f"), element, args.size()); };
  if (t.lanes == 1) return b.CreateCall(scalar(), args);
  const auto abi = vector_abi(state);
  const std::string name = abi ? runtime::vector_function(ir::intrinsic_name(f), static_cast<int>(args.size()), t.bits, *abi) : std::string();
  const int step = name.empty() ? 1 : runtime::vector_bits(*abi) / t.bits;
  const llvm::FunctionCallee callee = name.empty() ? scalar() : pure_function(state, name, llvm::FixedVectorType::get(element, step), args.size());
  Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (int at = 0; at < t.lanes; at += step) {
    // Lanes beyond the last repeat it: whatever the function does there, it does for a value that is asked for.
    std::vector<int> lanes(static_cast<size_t>(step)), back(static_cast<size_t>(t.lanes));
    for (int i = 0; i < step; ++i) lanes[static_cast<size_t>(i)] = std::min(at + i, t.lanes - 1);
    std::vector<Value*> part;
    for (Value* a : args) part.push_back(step == 1 ? b.CreateExtractElement(a, at) : b.CreateShuffleVector(a, lanes));
    Value* value = b.CreateCall(callee, part);
    if (step == 1) {
      result = b.CreateInsertElement(result, value, at);
      continue;
    }
    if (step == t.lanes) return value;
    // As many lanes as the result, then the new ones in their places.
    for (int i = 0; i < t.lanes; ++i) back[static_cast<size_t>(i)] = std::clamp(i - at, 0, step - 1);
    Value* widened = b.CreateShuffleVector(value, back);
    for (int i = 0; i < t.lanes; ++i) back[static_cast<size_t>(i)] = i >= at && i < at + step ? t.lanes + i : i;
    result = at == 0 ? widened : b.CreateShuffleVector(result, widened, back);
  }
  return result;
}

/// 1 / (1 + exp(-x)) without overflow: exp is only taken of -|x|.
Value* sigmoid64(ModuleState& state, Builder& b, DType t, Value* x) {
  llvm::Constant* one = llvm::ConstantFP::get(x->getType(), 1.0);
  Value* e = call_library(state, b, Intrinsic::exp, t, {b.CreateFNeg(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x))});
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
  return call_library(state, b, f, t, args);
}

}  // namespace tw::codegen
