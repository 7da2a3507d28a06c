// SPDX-License-Identifier: Apache-2.0
#include "engine/process/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "engine/base/text.h"

namespace tw::process {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBeginning = "tw-scratch-";  ///< nobody else's folders begin so: those of users may be called after the program
/// A folder is locked right after it is made.
constexpr std::time_t kYoung_s = 5;

/// The folder itself, locked; -1 if it is somebody else's, or none, or its owner lives.
int lock_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat info {};
  if (::fstat(fd, &info) == 0 && info.st_uid == ::geteuid() && ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

Expected<TemporaryFolder> TemporaryFolder::create() {
  std::error_code ec;
  std::string path = (fs::temp_directory_path(ec) / fmt::format("{}XXXXXX", kBeginning)).string();
  if (ec || mkdtemp(path.data()) == nullptr)
    return Error(ErrorCode::infrastructure, fmt::format("Cannot make a temporary folder: {}", ec ? ec.message() : std::strerror(errno)));
  const int lock = lock_folder(path);
  return TemporaryFolder(std::move(path), lock);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a temporary folder that cannot be removed harms nothing
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void sweep_temporary_folders() {
  std::error_code ec;
  const std::string beginning = kBeginning;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path(ec), ec)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(beginning) || name.size() != beginning.size() + 6) continue;
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || std::time(nullptr) - info.st_mtime < kYoung_s) continue;
    const int lock = lock_folder(entry.path().string());
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

}  // namespace tw::process
