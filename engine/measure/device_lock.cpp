// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "engine/base/text.h"

namespace tw::measure {

DeviceLock::DeviceLock(const std::string& device) {
  const std::string path = fmt::format("/dev/shm/tilewright-measure-{}{}{}.lock", ::getuid(), device.empty() ? "" : "-", device);
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

DeviceLock::~DeviceLock() {
  if (fd_ >= 0) ::close(fd_);
}

bool DeviceLock::acquire(const std::function<bool()>& wanted) {
  while (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;  // a file system without locks
    if (!wanted()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void DeviceLock::release() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

}  // namespace tw::measure
