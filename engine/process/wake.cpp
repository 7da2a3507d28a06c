// SPDX-License-Identifier: Apache-2.0
#include "engine/process/wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/base/assert.h"

namespace tw::process {

StopFd::StopFd(const StopToken& stop) : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  TW_ASSERT(fd_ >= 0, "no descriptor left for an eventfd");
  callback_.emplace(stop, Signal{fd_});
}

StopFd::~StopFd() {
  callback_.reset();  // waits for a running callback
  ::close(fd_);
}

void StopFd::Signal::operator()() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);  // can only fail if it is readable already
}

void poll_until(std::vector<pollfd>& fds, Deadline deadline) {
  for (;;) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
    const int n = ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<int64_t>(ms, 0, 60000)));
    if (n > 0 || std::chrono::steady_clock::now() >= deadline) return;
  }
}

}  // namespace tw::process
