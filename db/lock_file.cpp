// SPDX-License-Identifier: Apache-2.0
#include "db/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/base/file_in_use.h"
#include "engine/base/text.h"
#include "engine/process/process_state.h"

namespace tw::db {
namespace {

/// A descriptor that closes itself.
struct Fd {
  int value = -1;
  ~Fd() {
    if (value >= 0) ::close(value);
  }
  int release() { return std::exchange(value, -1); }
};

struct Parked {
  std::mutex mutex;
  std::vector<int> fds;
};
Parked& parked() {
  static Parked& p = *new Parked();  // never destroyed: databases may be static
  return p;
}

bool is_open_database(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && use_of(info.st_dev, info.st_ino) == FileUse::database;
}

std::string noted_pid(int fd) {
  char text[32] = {};
  const ssize_t n = ::pread(fd, text, sizeof(text) - 1, 0);
  std::string digits;
  for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; ++i) digits += text[i];
  return digits;
}

Error held(const std::string& path, int fd) {
  const auto holder = process::lock_holder(fd);
  return Error(ErrorCode::infrastructure,
               fmt::format("Expected to be the only writer of the workspace '{}', found that {} writes to it; it can still be opened "
                           "for reading",
                           printable(path), holder ? process::describe_process(*holder) : "another process"));
}

Error failed(const char* doing, const std::string& path) {
  const int code = errno;
  return Error(code == ENOSPC || code == EDQUOT ? ErrorCode::no_space : ErrorCode::io_error,
               fmt::format("Could not {} '{}': {}", doing, printable(path), std::strerror(code)));
}

/// Nothing if it is ours now. Errors: infrastructure, io_error.
Expected<void> lock(int fd, const std::string& locked, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
  return errno == EWOULDBLOCK ? held(path, fd) : failed("lock", locked);
}

}  // namespace

void close_parked() {
  const std::lock_guard guard(parked().mutex);
  std::erase_if(parked().fds, [](int fd) {
    if (is_open_database(fd)) return false;
    ::close(fd);
    return true;
  });
}

Expected<std::unique_ptr<LockFile>> LockFile::acquire(const std::string& path) {
  struct stat info {};
  Fd file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)};
  if (file.value < 0) return failed("open", path);
  const auto park = [&](Error error) {
    const std::lock_guard guard(parked().mutex);
    if (is_open_database(file.value)) parked().fds.push_back(file.release());
    return error;
  };
  if (auto locked = lock(file.value, path, path); !locked) return park(locked.error());
  if (::fstat(file.value, &info) != 0) return park(failed("look at", path));
  if (info.st_nlink > 1) {
    return park(Error(
        ErrorCode::invalid_argument,
        fmt::format("Expected a workspace with one name, found that '{}' has {}: SQLite keeps its log beside one of them, and a program that takes another "
                    "name would not see it",
                    printable(path), info.st_nlink)));
  }
  const std::string note_path = path + ".lock";
  Fd note{::open(note_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)};
  if (note.value < 0) return park(failed("create", note_path));
  const bool clean = noted_pid(note.value).empty();
  if (auto locked = lock(note.value, note_path, path); !locked) return park(locked.error());
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(note.value, 0) != 0 || ::pwrite(note.value, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return park(failed("write", note_path));
  return std::unique_ptr<LockFile>(new LockFile(file.release(), note.release(), clean));
}

LockFile::~LockFile() {
  // An unclean mark that cannot be removed only costs a check at the next start.
  [[maybe_unused]] const int ignored = ::ftruncate(note_, 0);
  ::close(note_);
  ::flock(file_, LOCK_UN);
  {
    const std::lock_guard guard(parked().mutex);
    parked().fds.push_back(file_);
  }
  close_parked();
}

}  // namespace tw::db
