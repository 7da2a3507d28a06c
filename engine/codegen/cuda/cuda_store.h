// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/cuda/kernel_text.h"

namespace tw::codegen {

/// Prints a store. Neighbours are read and written as vectors; a store that only copies moves bits, and does so beside other work in a group of such copies
/// (`in_group`) where the hardware can.
void print_store(KernelText& text, const tir::Stmt& s, const tir::StoreNode& n, bool in_group);

}  // namespace tw::codegen
