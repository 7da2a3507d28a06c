// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/cuda/kernel_text.h"

namespace tw::codegen {

/// Prints a reduction over the threads of a direction: those of one warp exchange values by shuffles, those of several through shared memory.
/// Returns: bytes of shared memory that it declares.
int64_t print_all_reduce(KernelText& text, const tir::Stmt& s, const tir::AllReduceNode& n);

}  // namespace tw::codegen
