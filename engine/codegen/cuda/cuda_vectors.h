// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/ir/expr.h"

/// Which neighbouring elements of an array a thread may read or write at once: CUDA's vectors lie at multiples of their size.
namespace tw::codegen {

/// Such as `float4`; null where there is no vector of so many.
const char* vector_name(DType t, int lanes);
/// Of the elements at vector indices: neighbours in shared or global memory whose first lies at a multiple of their number, as many as 16 bytes hold at most.
int run_length(const ir::Buffer& b, const std::vector<ir::Expr>& indices, int lanes);
/// Of those, elements that one vector takes; 1: none does.
int vector_length(const ir::Buffer& b, const std::vector<ir::Expr>& indices, int lanes);

}  // namespace tw::codegen
