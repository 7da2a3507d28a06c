// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ir/print.h"

namespace tw::codegen {

/// Keeps the words that no variable of a CUDA text may be called by: those of C++, CUDA's coordinates and functions, and the functions that texts bring along.
void reserve_words(ir::Names& names);

}  // namespace tw::codegen
