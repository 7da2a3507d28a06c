// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <optional>
#include <vector>

#include "engine/base/stop_token.h"
#include "engine/process/frame.h"

namespace tw::process {

/// A descriptor that becomes readable when a stop is requested, so that one poll waits for workers and for the user.
class StopFd {
 public:
  explicit StopFd(const StopToken& stop);
  ~StopFd();
  StopFd(const StopFd&) = delete;
  StopFd& operator=(const StopFd&) = delete;
  int fd() const { return fd_; }

 private:
  struct Signal {
    int fd;
    void operator()() const;
  };
  int fd_;
  std::optional<std::stop_callback<Signal>> callback_;
};

/// poll() until `deadline`, repeated after interruptions by signals.
void poll_until(std::vector<pollfd>& fds, Deadline deadline);

}  // namespace tw::process
