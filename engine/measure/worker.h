// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "engine/process/child_process.h"

namespace tw::measure {

/// Of the frames between a program and its `tw-worker`.
inline constexpr int kProtocolVersion = 3;
/// How long a worker may take to say hello, and a candidate to be loaded: limits of their own, so that a busy machine is not taken for a slow kernel.
inline constexpr double kStartupSeconds = 30;

/// The worker program: `given`, or `tw-worker` where programs of this one lie. Errors: not_found.
Expected<std::string> find_worker(const std::string& given);
/// Starts it in a role (`build`, `measure`, `gpu`). Errors: infrastructure.
Expected<std::unique_ptr<process::ChildProcess>> start_worker(const std::string& program, const std::string& role, int64_t memory_bytes);

}  // namespace tw::measure
