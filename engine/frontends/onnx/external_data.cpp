// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/frontends/onnx/limits.h"

namespace tw::frontends {

namespace {

/// An open file descriptor, closed at the end of its scope.
class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  File(File&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  File& operator=(File&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

Error refused(const std::string& location, const std::string& why) {
  return Error(ErrorCode::invalid_argument,
               fmt::format("Expected external data in a regular file below the model's folder, found '{}' ({})", printable(location), why));
}

/// The parts between slashes. Errors: absolute paths, empty parts, `.` and `..`.
Expected<std::vector<std::string>> parts_of(const std::string& location) {
  if (location.empty() || location.size() > 4096) return refused(location.substr(0, 64), "a path of an unusable length");
  if (location.find('\0') != std::string::npos) return refused(location, "a zero byte in the path");
  if (location[0] == '/') return refused(location, "an absolute path");
  std::vector<std::string> parts;
  size_t from = 0;
  while (from <= location.size()) {
    const size_t to = std::min(location.find('/', from), location.size());
    parts.push_back(location.substr(from, to - from));
    if (parts.back() == "..") return refused(location, "'..' in the path");
    if (parts.back() == "." || parts.back().empty()) parts.pop_back();
    from = to + 1;
  }
  if (parts.empty()) return refused(location, "no file name");
  return parts;
}

/// Opens one component after the other without following links: what openat2 does in one call on kernels that have it.
File open_by_parts(int folder, const std::vector<std::string>& parts) {
  File at(dup(folder));
  for (size_t i = 0; i < parts.size() && at.ok(); ++i) {
    const bool last = i + 1 == parts.size();
    at = File(openat(at.get(), parts[i].c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY)));
  }
  return at;
}

File open_below(int folder, const std::vector<std::string>& parts) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const std::string path = fmt::format("{}", fmt::join(parts, "/"));
  const long fd = syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_parts(folder, parts);
  return File(static_cast<int>(fd));
}

constexpr size_t kPiece = size_t{1} << 20;  ///< is still in the processor's cache when it is hashed

Expected<void> read_all(int fd, std::span<std::byte> out, int64_t offset, const std::string& location, ContentHasher& hasher) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = pread(fd, out.data() + done, std::min(out.size() - done, kPiece), offset + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return Error(ErrorCode::io_error,
                   fmt::format("Reading the external data '{}' failed: {}", printable(location), n == 0 ? "unexpected end" : std::strerror(errno)));
    hasher.add({reinterpret_cast<const char*>(out.data()) + done, static_cast<size_t>(n)});
    done += static_cast<size_t>(n);
  }
  return {};
}

}  // namespace

Expected<ArrayBytes> ExternalData::read(const std::string& location, int64_t offset, int64_t length) {
  if (folder_.empty()) return refused(location, "the model was not read from a file");
  TW_TRY(const std::vector<std::string> parts, parts_of(location));
  const bool first = files_.insert(location).second;
  if (static_cast<int64_t>(files_.size()) > onnx_limits::kExternalFiles)
    return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} external data files, found more", onnx_limits::kExternalFiles));
  const File folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok()) return Error(ErrorCode::io_error, fmt::format("Opening the model's folder '{}' failed: {}", printable(folder_), std::strerror(errno)));
  const File file = open_below(folder.get(), parts);
  if (!file.ok()) {
    if (errno == ENOENT)
      return Error(ErrorCode::not_found, fmt::format("Expected the external data file '{}' below the model's folder, found none", printable(location)));
    return refused(location, errno == ELOOP || errno == EXDEV ? "a link" : std::strerror(errno));
  }
  struct stat info {};
  if (fstat(file.get(), &info) != 0)
    return Error(ErrorCode::io_error, fmt::format("Examining the external data '{}' failed: {}", printable(location), std::strerror(errno)));
  if (!S_ISREG(info.st_mode)) return refused(location, "not a regular file");
  if (info.st_nlink != 1) return refused(location, "a file with a second hard link");
  const int64_t size = info.st_size;
  if (offset < 0 || offset > size || length > size - offset)
    return Error(ErrorCode::corrupt,
                 fmt::format("Expected external data within the {} bytes of '{}', found {} bytes from {}", size, printable(location), length, offset));
  if (first && on_file_) on_file_(size);
  const auto wanted = static_cast<size_t>(length < 0 ? size - offset : length);
  ContentHasher hasher;
  if (const ArrayPlace place = room_ && wanted > 0 ? room_(wanted) : ArrayPlace{}; !place.bytes.empty()) {
    TW_CHECK(read_all(file.get(), place.bytes, offset, location, hasher));
    return ArrayBytes::kept(place.bytes, place.keeper, hasher.key());
  }
  std::vector<std::byte> out(wanted);
  TW_CHECK(read_all(file.get(), out, offset, location, hasher));
  return ArrayBytes(std::move(out));
}

}  // namespace tw::frontends
