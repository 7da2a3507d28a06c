// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runtime/gpu_device.h"
#include "engine/target/gpu.h"

namespace tw::measure {

/// A GPU of the table that is not there: its memory is the processor's, functions run in the interpreter of loops, block by block and thread by thread, which
/// finds races and accesses outside of arrays; time is that of the formula (simulate/kernel_time.h). For trying whole networks and this program's own ways
/// through a GPU without one; about 0.1 us an operation. Errors beside those of GpuDevice: wrong_result with what the interpreter found.
std::unique_ptr<runtime::GpuDevice> interpreted_gpu(const target::Gpu& gpu);

/// The formula's time of a compiled function: the sum over its launches, in seconds. Errors: of the GPU's limits; parse_error for loops that are none.
Expected<double> simulated_seconds(const runtime::GpuFunction& function, const target::Gpu& gpu);

/// `cuda:0` and so on: a GPU of this machine. `sim:a100` and so on: interpreted_gpu. Errors: invalid_argument for other names; those of open_cuda_device.
Expected<std::unique_ptr<runtime::GpuDevice>> open_gpu(const std::string& name);

}  // namespace tw::measure
