// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tw::measure {

/// Exit code of a process that aborted: in a PID namespace of its own, a process does not die of the signal that abort() sends to itself.
inline constexpr int kExitAborted = 72;

/// Limits of a process that compiles: address space beyond what is mapped now, open files, no core files.
/// Running out of memory ends the process with process::kExitOutOfMemory.
void limit_builder(int64_t memory_bytes);
/// Limits of a process that runs a candidate: as above, and processor seconds, no growing files.
void limit_candidate(int64_t memory_bytes, double cpu_seconds);

/// Leaves this process the last `cores` of its processors: building happens on the first ones.
void keep_last_processors(int cores);

}  // namespace tw::measure
