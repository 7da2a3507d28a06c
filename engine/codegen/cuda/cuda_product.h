// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/cuda/kernel_text.h"

namespace tw::codegen {

/// Prints a product by a warp on tensor cores. Operands of a warp's tile go to registers, 16 lines by 32 bytes of terms at a time; each serves all lines of the
/// other operand.
void print_product(KernelText& text, const tir::Stmt& s, const tir::MmaNode& n);

}  // namespace tw::codegen
