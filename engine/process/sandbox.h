// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace tw::process {

/// A forked child with the descriptor that becomes readable when it ends.
struct ForkedChild {
  pid_t pid = -1;  ///< 0 in the child itself; -1 if there is none, and errno says why
  int pidfd = -1;  ///< -1 where the system has no such thing: ask has_ended
};
/// Whether it ended; it stays to be waited for.
bool has_ended(const ForkedChild& child);

/// Forks single-threaded processes, each in a PID namespace of its own where the system permits it: when such a process ends, everything that it
/// started ends with it. Elsewhere the forking process becomes the reaper of orphans and hunts them down. Where the newer calls are refused, as containers do,
/// older ones serve: clone3, clone, fork.
class Sandbox {
 public:
  Sandbox();
  /// Returns in both processes.
  ForkedChild fork();
  /// Kills a child and all that it started, and waits for it. Returns its wait status.
  int kill_and_wait(const ForkedChild& child);
  /// Waits for a child that has ended, and ends what it left behind.
  int wait(const ForkedChild& child);
  /// Such as `PID namespace`.
  const char* name() const;

 private:
  enum class Kind { pid_namespace, user_namespace, subreaper };
  enum class Call { clone3, clone, fork };
  /// The process id as fork() returns it.
  long clone_process(int& pidfd);
  void hunt_orphans();
  Kind kind_ = Kind::pid_namespace;
  Call call_ = Call::clone3;
};

/// To be called first in the child: own process group, death with the parent (whose end of `result_fd` closes then), `result_fd` as descriptor 3,
/// `output_fd` as standard output and error, nothing else open.
void enter_child(int result_fd, int output_fd);

}  // namespace tw::process
