// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "engine/codegen/llvm/types.h"
#include "engine/target/cpu_table.h"

namespace tw::codegen {

/// float32 functions as straight-line code, for scalars and vectors alike. Each is within 4 units in the last place of the true value
/// (tests hold them to it), gives the C library's results for infinities, zeros and NaN, and reaches denormal results.
/// The polynomials are minimax fits of relative error, made for these intervals.
class F32Math {
 public:
  /// Float operations are emitted exactly as written while this lives: no contraction.
  F32Math(Builder& b, int lanes, target::FeatureSet features);

  llvm::Value* exp(llvm::Value* x);
  llvm::Value* log(llvm::Value* x);
  llvm::Value* tanh(llvm::Value* x);
  llvm::Value* sigmoid(llvm::Value* x);
  llvm::Value* erf(llvm::Value* x);

 private:
  llvm::Value* number(double v);
  llvm::Value* bits(int64_t v);
  llvm::Value* to_bits(llvm::Value* v) { return b_.CreateBitCast(v, int_type_); }
  llvm::Value* to_float(llvm::Value* v) { return b_.CreateBitCast(v, type_); }
  llvm::Value* fabs(llvm::Value* v);
  /// a * b + c, in one rounding where the processor has the instruction.
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  /// c[0] + c[1] x + c[2] x^2 + ...
  llvm::Value* polynomial(llvm::Value* x, std::initializer_list<double> c);
  /// The nearest whole number, and the same as an integer; |x| < 2^22.
  std::pair<llvm::Value*, llvm::Value*> nearest(llvm::Value* x);
  /// 2^r * 2^n for |r| <= 0.5 and whole n in [-152, 130], rounded once into the denormals.
  llvm::Value* exp2_parts(llvm::Value* r, std::pair<llvm::Value*, llvm::Value*> n);

  Builder& b_;
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
  int lanes_;
  bool has_fma_, has_scalef_;
  llvm::Type *type_, *int_type_;
};

}  // namespace tw::codegen
