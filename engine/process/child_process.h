// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/process/frame.h"

namespace tw::process {

/// The descriptor on which a child finds its end of the channel.
inline constexpr int kChannelFd = 3;
/// Exit code of a process that ran out of memory and could still say so.
inline constexpr int kExitOutOfMemory = 71;

/// How a process ended.
struct ProcessEnd {
  int signal = 0;  ///< 0 if it exited
  int code = 0;
  bool killed_by_us = false;
  /// Such as `SIGSEGV` or `exit code 3`.
  std::string text() const;
};

/// Name of a signal, such as `SIGSEGV`.
std::string signal_name(int signal);

/// A running program, in a process group of its own, with a private channel; its standard output and error are captured.
/// It dies with this object, and by itself when the channel's other end is gone, however that came about.
/// Start-up uses posix_spawn: the cost does not depend on the size of the calling process.
class ChildProcess {
 public:
  /// `shared`: a descriptor that the child finds as kSharedFd; -1 for none. Errors: infrastructure if the process cannot be started.
  static Expected<std::unique_ptr<ChildProcess>> start(const std::string& program, const std::vector<std::string>& arguments, int shared = -1);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// To be polled for reading; -1 once closed.
  int channel() const { return channel_; }
  int output() const { return output_; }

  /// Errors: timeout if the child does not take it in time, io_error if it is gone.
  Expected<void> send(const Json& header, std::span<const std::byte> payload, Deadline deadline);
  /// Reads what has arrived and returns the next frame, if one is complete. Errors: crash at the end of the stream, parse_error for a broken one.
  Expected<std::optional<Frame>> receive();
  /// Takes over what it printed; call when output() is readable.
  void drain_output();
  /// The end of what it printed, at most 64 KiB.
  const std::string& printed() const { return printed_; }

  /// Kills the whole process group and waits for the process.
  ProcessEnd kill();
  /// After the end of the stream: waits a moment for the process to end by itself, so that its own reason is known.
  ProcessEnd reap();

 private:
  ChildProcess() = default;
  void close_all();
  ProcessEnd wait_blocking(bool killed);

  pid_t pid_ = -1;
  int channel_ = -1;
  int output_ = -1;
  FrameReader reader_;
  std::string printed_;
};

}  // namespace tw::process
