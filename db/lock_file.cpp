// SPDX-License-Identifier: Apache-2.0
#include "db/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tw::db {
namespace {

std::string holder(int fd) {
  char text[32] = {};
  const ssize_t n = ::pread(fd, text, sizeof(text) - 1, 0);
  std::string digits;
  for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; ++i) digits += text[i];
  return digits;
}

}  // namespace

Expected<std::unique_ptr<LockFile>> LockFile::acquire(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Error(ErrorCode::io_error, fmt::format("Could not create '{}': {}", path, std::strerror(errno)));
  const std::string last = holder(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    ::close(fd);
    if (code != EWOULDBLOCK) return Error(ErrorCode::io_error, fmt::format("Could not lock '{}': {}", path, std::strerror(code)));
    return Error(ErrorCode::infrastructure,
                 fmt::format("Expected to be the only writer of the workspace, found that process {} holds '{}'; it can still be opened for reading",
                             last.empty() ? "?" : last, path));
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  const bool written = ::ftruncate(fd, 0) == 0 && ::pwrite(fd, pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  if (!written) {
    const int code = errno;
    ::close(fd);
    return Error(code == ENOSPC ? ErrorCode::no_space : ErrorCode::io_error, fmt::format("Could not write '{}': {}", path, std::strerror(code)));
  }
  return std::unique_ptr<LockFile>(new LockFile(fd, last.empty()));
}

LockFile::~LockFile() {
  // An unclean mark that cannot be removed only costs a check at the next start.
  [[maybe_unused]] const int ignored = ::ftruncate(fd_, 0);
  ::close(fd_);
}

}  // namespace tw::db
