// SPDX-License-Identifier: Apache-2.0
#include "engine/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "engine/base/hash.h"

namespace tw {

namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Error system_error(const std::string& doing, const std::string& path) {
  const ErrorCode code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::no_space : errno == ENOENT ? ErrorCode::not_found : ErrorCode::io_error;
  return Error(code, fmt::format("{} failed: {}", doing, std::strerror(errno)), path);
}

Expected<FileWriter> FileWriter::open(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return system_error("Opening", path);
    return FileWriter(path, {}, fd);
  }
  const std::string temporary = fmt::format("{}.tmp{}", path, ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return system_error("Creating the file", temporary);
  return FileWriter(path, temporary, fd);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})), fd_(std::exchange(other.fd_, -1)) {}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Expected<void> FileWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("Writing", temporary_.empty() ? path_ : temporary_);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Expected<void> FileWriter::commit() {
  if (temporary_.empty()) return {};
  if (::fsync(fd_) != 0) return system_error("Syncing", temporary_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return system_error("Renaming", path_);
  temporary_.clear();
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const Descriptor dir{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (dir.fd >= 0) ::fsync(dir.fd);  // some file systems refuse it for folders; the data itself is synced
  return {};
}

Expected<void> write_file(const std::string& path, std::span<const std::string_view> parts) {
  TW_TRY(FileWriter file, FileWriter::open(path));
  for (const std::string_view part : parts) TW_CHECK(file.write(part));
  return file.commit();
}

Expected<std::string> file_content_key(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return system_error("Opening", path);
  ContentHasher hasher;
  std::vector<char> piece(size_t{1} << 20);
  for (;;) {
    const ssize_t n = ::read(file.fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("Reading", path);
    if (n == 0) return hasher.key();
    hasher.add({piece.data(), static_cast<size_t>(n)});
  }
}

}  // namespace tw
