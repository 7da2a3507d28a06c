// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/base/stop_token.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/runtime/gpu_code.h"
#include "engine/tir/stmt.h"

namespace tw::codegen {

/// A lowered function as launches and CUDA C++, without machine code: no compiler is needed. Errors: those of cuda_source.
Expected<runtime::GpuFunction> gpu_function(const tir::Func& func);
/// Adds the machine code for a compute capability, unless an image is there that runs on it. Gives what the kernels take, nothing if nothing was compiled.
/// Errors: those of nvrtc_compile.
Expected<std::vector<KernelResources>> add_image(runtime::GpuFunction& function, int capability);
/// The same for many, on as many threads as there are processors. Per function nothing, or why it has no image.
std::vector<std::optional<Error>> add_images(std::span<runtime::GpuFunction> functions, int capability, StopToken stop = {});

}  // namespace tw::codegen
