// SPDX-License-Identifier: Apache-2.0
#include "engine/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tw {

namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Expected<void> write_parts(int fd, std::span<const std::string_view> parts, const std::string& path) {
  for (std::string_view bytes : parts)
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return system_error("Writing", path);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  return {};
}

Expected<void> write_in_place(const std::string& path, std::span<const std::string_view> parts) {
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (file.fd < 0) return system_error("Opening", path);
  return write_parts(file.fd, parts, path);
}

Expected<void> write_beside_and_rename(const std::string& path, const std::string& temporary, std::span<const std::string_view> parts) {
  const Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.fd < 0) return system_error("Creating the file", temporary);
  TW_CHECK(write_parts(file.fd, parts, temporary));
  if (::fsync(file.fd) != 0) return system_error("Syncing", temporary);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return system_error("Renaming", path);
  return {};
}

}  // namespace

Error system_error(const std::string& doing, const std::string& path) {
  const ErrorCode code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::no_space : errno == ENOENT ? ErrorCode::not_found : ErrorCode::io_error;
  return Error(code, fmt::format("{} failed: {}", doing, std::strerror(errno)), path);
}

Expected<void> write_file(const std::string& path, std::span<const std::string_view> parts) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return write_in_place(path, parts);
  const std::string temporary = fmt::format("{}.tmp{}", path, ::getpid());
  if (auto done = write_beside_and_rename(path, temporary, parts); !done) {
    ::unlink(temporary.c_str());
    return done;
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor dir{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (dir.fd >= 0) ::fsync(dir.fd);  // some file systems refuse it for folders; the data itself is synced
  return {};
}

}  // namespace tw
