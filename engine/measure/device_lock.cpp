// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/process/child_process.h"
#include "engine/process/handshake.h"
#include "engine/process/process_state.h"

namespace tw::measure {

namespace {

constexpr const char* kFolders[] = {"/dev/shm", "/run/lock", "/tmp"};
constexpr auto kSayEvery = std::chrono::seconds(1);

/// The file of all users. In folders where everybody may write, the system lets nobody open another's file with O_CREAT, so that it is made in a step of its
/// own.
int open_shared(const std::string& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 || errno != ENOENT) return fd;
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0 || errno != EEXIST) return fd;  // else somebody else was quicker
  }
  return -1;
}

}  // namespace

DeviceLock::DeviceLock(const std::string& device) {
  std::string name = "tilewright-measure" + (device.empty() ? "" : "-" + device) + ".lock";
  for (char& c : name)
    if (c == '/') c = '_';
  for (const char* folder : kFolders) {
    fd_ = open_shared(fmt::format("{}/{}", folder, name));
    if (fd_ >= 0) return;
    trouble_ += fmt::format("{}{}: {}", trouble_.empty() ? "" : ", ", folder, std::strerror(errno));
  }
  trouble_ = "No file could be made for the lock of the device, so that programs which measure at the same time disturb each other (" + trouble_ + ")";
}

DeviceLock::~DeviceLock() {
  if (fd_ >= 0) ::close(fd_);
}

bool DeviceLock::acquire(const std::function<bool()>& wanted, const std::function<void(const std::string&)>& waiting) {
  auto say_at = std::chrono::steady_clock::now() + kSayEvery;
  while (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {  // a file system without locks
      trouble_ = fmt::format("The device cannot be locked, so that programs which measure at the same time disturb each other: {}", std::strerror(errno));
      return true;
    }
    if (!wanted()) return false;
    if (waiting && std::chrono::steady_clock::now() >= say_at) {
      say_at += kSayEvery;
      const auto holder = process::lock_holder(fd_);
      waiting(holder ? process::describe_process(*holder) : "another program");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

Expected<void> DeviceLock::take_turn(const std::string& what) {
  const auto waiting = [&](const std::string& holder) {
    static_cast<void>(process::write_frame(process::kChannelFd, Json{{"alive", true}, {"waiting", fmt::format("Waiting for {}, held by {}", what, holder)}}));
  };
  if (!acquire(&process::peer_is_there, waiting)) return Error(ErrorCode::cancelled, "The program that asked is gone");
  if (!trouble_.empty()) TW_CHECK(process::write_frame(process::kChannelFd, Json{{"alive", true}, {"notice", trouble_}}));
  return {};
}

void DeviceLock::release() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

}  // namespace tw::measure
