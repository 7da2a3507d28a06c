// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runtime/gpu_device.h"
#include "engine/runtime/graph_executor.h"

namespace tw::runtime {

/// Runs a network that was compiled for a GPU on one. Constants go to its memory once; intermediates share an arena there. Where all calls run on the GPU, they
/// are recorded and launched as one piece of work. Calls of the processor get their arguments copied and their results copied back: `host` holds their code
/// (null if there are none), `threads` are for them, as this machine has if 0.
/// Errors: those of the device; unsupported for an executable of another kind.
Expected<std::unique_ptr<GraphExecutor>> create_gpu_executor(std::shared_ptr<const Executable> executable, std::shared_ptr<GpuDevice> device,
                                                             std::unique_ptr<LoadedModule> host, int threads = 0);

}  // namespace tw::runtime
