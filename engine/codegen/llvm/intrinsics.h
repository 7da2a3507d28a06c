// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "engine/codegen/llvm/emitter.h"

namespace tw::codegen {

/// f(args) on values of type t (scalars or vectors).
/// float32 exp, log, tanh, sigmoid and erf are our own polynomials (f32_math.h), the same for every lane count; sqrt, rounding and the like
/// are instructions; everything else, and all of float64, is one call of the C library per lane.
llvm::Value* emit_intrinsic(ModuleState& state, Builder& b, ir::Intrinsic f, DType t, const std::vector<llvm::Value*>& args);

}  // namespace tw::codegen
