// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "engine/codegen/cuda/cuda_source.h"
#include "engine/tir/launches.h"

namespace tw::codegen {

/// Adds the text of one kernel to `out`, and the functions that it calls beside those of CUDA to `helpers`.
/// Returns: bytes of shared memory of what threads exchange when they reduce together, beside the arrays of the launch.
int64_t print_kernel(const tir::Launch& launch, const CudaKernel& kernel, std::set<std::string>& helpers, CudaSource& out);

}  // namespace tw::codegen
