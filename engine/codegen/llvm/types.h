// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "engine/base/dtype.h"

/// How our types live in LLVM: in registers and in memory they may differ.
/// A bool is i1 in a register and a byte of 0 or 1 in memory. float16 and bfloat16 are computed as float and rounded (to nearest, ties to even)
/// where they are stored or converted to, so that sums of products keep float's precision.
namespace tw::codegen {

using Builder = llvm::IRBuilder<>;

llvm::Type* value_type(llvm::LLVMContext& context, DType t);
llvm::Type* memory_type(llvm::LLVMContext& context, DType t);

/// Between the two, for scalars and vectors.
llvm::Value* from_memory(Builder& b, DType t, llvm::Value* v);
llvm::Value* to_memory(Builder& b, DType t, llvm::Value* v);

/// The type that arithmetic on `t` is done in: float for float16 and bfloat16, else t itself.
DType compute_type(DType t);

/// A number of (possibly vector) value type.
llvm::Constant* int_constant(llvm::Type* type, int64_t value);
llvm::Constant* float_constant(llvm::LLVMContext& context, DType t, double value);

/// Cast between any two element types with the same number of lanes. Float to integer truncates and saturates, NaN gives 0; to bool is `!= 0`.
llvm::Value* emit_cast(Builder& b, DType from, DType to, llvm::Value* v);

}  // namespace tw::codegen
