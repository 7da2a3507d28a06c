// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runtime/gpu_device.h"

namespace tw::runtime {

/// The properties of a GPU of this machine, without making a context on it. Errors: as cuda_driver; not_found for a number that no GPU has.
Expected<GpuProperties> cuda_properties(int ordinal);

/// A GPU of this machine, through its driver: its primary context, one queue, and a pool of memory that grows and is given back at the end. Recordings are CUDA
/// graphs. One thread. Once an error has corrupted the context, nothing more is asked of the driver, not even to free: the process should end.
/// Errors: as cuda_driver; not_found for a number that no GPU has; out_of_memory.
Expected<std::unique_ptr<GpuDevice>> open_cuda_device(int ordinal);

}  // namespace tw::runtime
