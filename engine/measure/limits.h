// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tw::measure {

/// Exit code of a process that aborted: in a PID namespace of its own, a process does not die of the signal that abort() sends to itself.
inline constexpr int kExitAborted = 72;

/// Bytes of address space this process has now; 0 if the system does not say.
int64_t address_space_bytes();

/// Limits of a process that compiles: address space beyond what is mapped now, open files, no core files.
/// Running out of memory ends the process with kExitOutOfMemory.
void limit_builder(int64_t memory_bytes);
/// Limits of a process that runs a candidate: as above, and processor seconds, no growing files.
void limit_candidate(int64_t memory_bytes, double cpu_seconds);

/// Puts this process before others of the machine, as far as the system lets it: what waits for a processor is not measured. A kernel of two threads on a busy
/// machine takes a turn of the scheduler, milliseconds, for every time that its threads meet. Only the administrator may; for others nothing changes.
void raise_priority();

}  // namespace tw::measure
