// SPDX-License-Identifier: Apache-2.0
// Loaded before a program (LD_PRELOAD): a disk that fails. Calls that change files whose path begins with TW_FAIL_PATH are counted; from number TW_FAIL_AT on they
// fail with the error number TW_FAIL_ERRNO: TW_FAIL_COUNT of them, or all if that is 0. With TW_FAIL_TORN half of a write arrives before it fails.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

bool is_watched(int fd) {
  static const char* const path = std::getenv("TW_FAIL_PATH");
  if (path == nullptr) return false;
  char link[64], name[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(link, name, sizeof name - 1);
  return length > 0 && std::strncmp(name, path, std::strlen(path)) == 0;
}

/// Whether this call fails; errno is set then.
bool fails(int fd) {
  static const long at = setting("TW_FAIL_AT"), count = setting("TW_FAIL_COUNT"), error = setting("TW_FAIL_ERRNO");
  static std::atomic<long> calls{0};
  if (at == 0 || !is_watched(fd)) return false;
  const long number = ++calls;
  if (number < at || (count > 0 && number >= at + count)) return false;
  errno = static_cast<int>(error);
  return true;
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

bool is_torn(size_t size) {
  static const bool torn = setting("TW_FAIL_TORN") != 0;
  return torn && size > 1;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (!fails(fd)) return real(fd, data, size);
  const int error = errno;
  if (is_torn(size)) static_cast<void>(real(fd, data, size / 2));
  errno = error;
  return -1;
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  if (!fails(fd)) return real(fd, data, size, at);
  const int error = errno;
  if (is_torn(size)) static_cast<void>(real(fd, data, size / 2, at));
  errno = error;
  return -1;
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  if (!fails(fd)) return real(fd, data, size, at);
  const int error = errno;
  if (is_torn(size)) static_cast<void>(real(fd, data, size / 2, at));
  errno = error;
  return -1;
}

int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails(fd) ? -1 : real(fd);
}

int fdatasync(int fd) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return fails(fd) ? -1 : real(fd);
}

int ftruncate(int fd, off_t size) {
  static const auto real = next<int (*)(int, off_t)>("ftruncate");
  return fails(fd) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size) {
  static const auto real = next<int (*)(int, off64_t)>("ftruncate64");
  return fails(fd) ? -1 : real(fd, size);
}

}  // extern "C"
