// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/worker.h"

#include "engine/process/find_program.h"

namespace tw::measure {

Expected<std::string> find_worker(const std::string& given) { return process::find_program("tw-worker", "which compiles and runs candidates", given); }

Expected<std::unique_ptr<process::ChildProcess>> start_worker(const std::string& program, const std::string& role, int64_t memory_bytes) {
  return process::ChildProcess::start(program, {role, "--memory-bytes", std::to_string(memory_bytes)});
}

}  // namespace tw::measure
