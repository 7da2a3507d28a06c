// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tw::process {

/// What the system says of a process, for people who are waiting for it. Source: /proc/PID/stat.
struct ProcessState {
  std::string name;      ///< of its program, at most 15 characters
  bool stopped = false;  ///< by a signal or a debugger: it does nothing until it is continued
};
/// Nothing if there is no such process, or none that this one can see.
std::optional<ProcessState> state_of(pid_t pid);
/// `process 123 (tw-worker), which is stopped`; `process 123` where nothing is known of it.
std::string describe_process(pid_t pid);

/// The process that holds an exclusive flock on an open file; nothing if none, or none that this one can see. Source: /proc/locks.
std::optional<pid_t> lock_holder(int fd);

}  // namespace tw::process
