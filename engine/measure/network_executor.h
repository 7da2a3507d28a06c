// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runtime/gpu_device.h"
#include "engine/runtime/graph_executor.h"
#include "engine/target/target.h"

namespace tw::measure {

/// Loads the code of a compiled network into this process. `gpu`: what one for a GPU runs on, and null for one for a processor; machine code that is missing for
/// it is compiled now. `pool`: of one for a processor, threads that it shares with others; null: as many of its own as the target says.
/// Errors: unsupported if it was compiled for another kind of processor; those of the device.
Expected<std::unique_ptr<runtime::GraphExecutor>> network_executor(std::shared_ptr<const runtime::Executable> executable,
                                                                   std::shared_ptr<runtime::GpuDevice> gpu,
                                                                   std::shared_ptr<runtime::ThreadPool> pool = nullptr);

/// Machine code may use whatever its processor has: another one would end the process with an illegal instruction. Errors: unsupported if this one has not all
/// that `code` may use.
Expected<void> check_processor(const Target& code);

}  // namespace tw::measure
