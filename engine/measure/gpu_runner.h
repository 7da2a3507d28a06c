// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/measure.h"

namespace tw::measure {

/// Times on a GPU (open_gpu's names), in a worker process that owns its context. The worker is replaced after an error that corrupts the context, after a
/// kernel that took too long, and after 200 candidates. Source: reliability of long tuning runs on CUDA, where only the end of a process evicts a kernel.
/// Errors: not_found if the worker program is missing.
Expected<std::unique_ptr<Runner>> gpu_runner(const std::string& device, const WorkerOptions& options);

}  // namespace tw::measure
