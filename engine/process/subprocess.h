// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"

/// A program starting itself, for code that may crash or hang, and other programs to compare with.
namespace tw::process {

/// A child with pipes on its descriptors 0 (we write) and 3 (we read). Its standard output goes to our standard error.
struct Subprocess {
  pid_t pid = -1;
  int to = -1, from = -1;
};
/// Starts a program, looked for on the PATH if its name has no slash. Errors: infrastructure.
Expected<Subprocess> start_program(const std::string& program, const std::vector<std::string>& arguments);
/// Starts this program with the given arguments. Errors: infrastructure.
Expected<Subprocess> start_self(const std::vector<std::string>& arguments);
/// Closes the pipes, kills if still there, waits. Returns the wait status.
int end_subprocess(Subprocess& child);
/// `was killed by signal 11 (Segmentation fault)` or `ended with code 3`.
std::string status_text(int wait_status);

/// First thing in a child's main: dies with its parent and writes no core file.
void become_child();

/// Runs this program to its end, for so many seconds at most if a number is given. Errors: cancelled, timeout, crash (with the signal), infrastructure. Returns the
/// exit code.
Expected<int> run_self(const std::vector<std::string>& arguments, StopToken stop, std::optional<double> seconds = {});

}  // namespace tw::process
