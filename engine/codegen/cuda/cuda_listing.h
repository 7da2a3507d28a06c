// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/codegen.h"

namespace tw::codegen {

/// CUDA C++, PTX and machine code (SASS) of a function, with their lines traced to those of tir::print. Where NVRTC or nvdisasm is not installed or cannot serve
/// the architecture, a comment that says so stands for what is missing. Errors: those of cuda_source.
Expected<Listing> build_cuda_listing(const tir::Func& func, int capability);

}  // namespace tw::codegen
