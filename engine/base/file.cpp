// SPDX-License-Identifier: Apache-2.0
#include "engine/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/file_in_use.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"

namespace tw {

namespace {

constexpr std::string_view kDatabaseMagic("SQLite format 3\0", 16);
constexpr int kMostLinks = 40;  ///< as the system's own limit
constexpr auto kWriterPatience = std::chrono::seconds(2);

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// Names such as /dev/stdout lead to what the process has open, which is written to as it stands.
bool is_own_descriptor(const std::string& path, int links = kMostLinks) {
  std::error_code error;
  const std::string folder = std::filesystem::weakly_canonical(std::filesystem::path(path).parent_path(), error).string();
  const bool folder_of_descriptors = folder.starts_with("/proc/") && folder.ends_with("/fd");
  if (folder_of_descriptors || links == 0 || !std::filesystem::is_symlink(path, error)) return folder_of_descriptors;
  const std::filesystem::path next = std::filesystem::read_symlink(path, error);
  return is_own_descriptor((next.is_absolute() ? next : std::filesystem::path(path).parent_path() / next).string(), links - 1);
}

/// The same; the name itself if that is an open descriptor.
Expected<std::string> resolved(const std::string& path) { return is_own_descriptor(path) ? Expected<std::string>(path) : resolve_links(path); }

/// The first bytes of a regular file.
Expected<std::string> beginning_of(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) return system_error("Looking at what is there", path);
  std::string head(kBeginningBytes, '\0');
  const ssize_t n = ::pread(file.fd, head.data(), head.size(), 0);
  if (n < 0) return system_error("Looking at what is there", path);
  head.resize(static_cast<size_t>(n));
  return head;
}

std::string fresh_name(const std::string& path) {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return fmt::format("{}.tmp{}-{:012x}", path, ::getpid(), random & 0xffffffffffff);
}

Expected<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd p{fd, POLLOUT, 0};
      ::poll(&p, 1, -1);
      continue;
    }
    if (n < 0) return system_error("Writing", path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

/// Some file systems refuse it for folders; the data itself is synced.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor dir{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (dir.fd >= 0) ::fsync(dir.fd);
}

}  // namespace

const FileKind kAnyOutput{"a file", [](std::string_view) { return true; }};

Error system_error(const std::string& doing, const std::string& path) {
  const ErrorCode code = errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? ErrorCode::no_space
                         : errno == ENOENT                                    ? ErrorCode::not_found
                                                                              : ErrorCode::io_error;
  return Error(code, fmt::format("{} failed: {}", doing, std::strerror(errno)), printable(path));
}

Expected<std::string> resolve_links(const std::string& path) {
  std::filesystem::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(at, error))) return at.string();
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) break;
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return Error(ErrorCode::io_error, "The symbolic link cannot be followed", printable(path));
}

Expected<void> check_output(const std::string& given, const FileKind& kind) {
  TW_TRY(const std::string path, resolved(given));
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};  // a missing folder is said when the file is made
    return system_error("Looking at what is there", given);
  }
  if (S_ISDIR(info.st_mode)) return Error(ErrorCode::invalid_argument, fmt::format("Expected a name for {}, found a folder", kind.name), printable(given));
  if (!S_ISREG(info.st_mode) || is_own_descriptor(given)) return {};
  const auto refused = [&](const char* found) {
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a new name for {}, found {}, which is never replaced", kind.name, found), printable(given));
  };
  if (use_of(info.st_dev, info.st_ino)) return refused("a file that this command reads");
  if (info.st_size == 0) return {};
  TW_TRY(const std::string head, beginning_of(path));
  if (head.starts_with(kDatabaseMagic)) return refused("a database");
  if (!kind.is(head)) return refused("another file");
  return {};
}

Expected<FileWriter> FileWriter::open(const std::string& given, const FileKind& kind) {
  TW_CHECK(check_output(given, kind));
  TW_TRY(const std::string path, resolved(given));
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (!S_ISREG(info.st_mode) || is_own_descriptor(given))) {
    const auto give_up = std::chrono::steady_clock::now() + kWriterPatience;
    int fd = -1;
    // A pipe that nobody reads would block for ever.
    while ((fd = ::open(given.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)) < 0 && errno == ENXIO && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (fd < 0) return system_error("Opening", given);
    return FileWriter(given, nullptr, {}, fd);
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  // Without a name, so that a kill leaves nothing; some file systems cannot.
  int fd = ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (fd >= 0) return FileWriter(path, &kind, {}, fd);
  const std::string temporary = fresh_name(path);
  fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return system_error("Creating the file", path);
  return FileWriter(path, &kind, temporary, fd);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)), kind_(other.kind_), temporary_(std::exchange(other.temporary_, {})), fd_(std::exchange(other.fd_, -1)) {}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Expected<void> FileWriter::write(std::string_view bytes) { return write_all(fd_, bytes, path_); }

Expected<void> FileWriter::commit(bool synced) {
  if (kind_ == nullptr) return {};
  if (synced && ::fsync(fd_) != 0) return system_error("Syncing", path_);
  TW_CHECK(check_output(path_, *kind_));
  if (temporary_.empty()) {
    const std::string name = fresh_name(path_);
    if (::linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", fd_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) return system_error("Naming", path_);
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return system_error("Renaming", path_);
  temporary_.clear();
  if (synced) sync_folder_of(path_);
  return {};
}

Expected<void> sync_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0 || ::fsync(file.fd) != 0) return system_error("Syncing", path);
  sync_folder_of(path);
  return {};
}

Expected<void> write_file(const std::string& path, const FileKind& kind, std::span<const std::string_view> parts) {
  TW_TRY(FileWriter file, FileWriter::open(path, kind));
  for (const std::string_view part : parts) TW_CHECK(file.write(part));
  return file.commit();
}

Expected<FileReader> FileReader::open(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && use_of(info.st_dev, info.st_ino) == FileUse::database)
    return Error(ErrorCode::io_error, "Expected a file to read, found the workspace that is open", printable(path));
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_error("Reading", path);
  FileReader reader(path, fd);
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) return Error(ErrorCode::io_error, "Expected a file to read, found a folder", printable(path));
  return reader;
}

FileReader::FileReader(FileReader&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), begun_(other.begun_) {}

FileReader::~FileReader() {
  if (fd_ >= 0) ::close(fd_);
}

Expected<size_t> FileReader::read(std::span<char> piece) {
  const auto give_up = std::chrono::steady_clock::now() + kWriterPatience;
  for (;;) {
    const ssize_t n = ::read(fd_, piece.data(), piece.size());
    struct stat info {};
    if (n > 0 || (n == 0 && (begun_ || ::fstat(fd_, &info) != 0 || !S_ISFIFO(info.st_mode)))) {
      begun_ = true;
      return static_cast<size_t>(n);
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // somebody writes, but has nothing yet
      begun_ = true;
      pollfd p{fd_, POLLIN, 0};
      ::poll(&p, 1, -1);
      continue;
    }
    if (n < 0) return system_error("Reading", path_);
    if (std::chrono::steady_clock::now() >= give_up)
      return Error(ErrorCode::io_error, "Expected somebody to write into the pipe, found nobody for two seconds", printable(path_));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Expected<std::string> read_file(const std::string& path) {
  TW_TRY(FileReader file, FileReader::open(path));
  std::string bytes;
  struct stat info {};
  if (::fstat(file.fd(), &info) == 0 && S_ISREG(info.st_mode)) bytes.reserve(static_cast<size_t>(info.st_size) + 1);
  constexpr size_t kPiece = size_t{1} << 16;
  for (;;) {
    const size_t have = bytes.size();
    bytes.resize(std::max(have + kPiece, bytes.capacity()));
    TW_TRY(const size_t n, file.read(std::span(bytes).subspan(have)));
    bytes.resize(have + n);
    if (n == 0) return bytes;
  }
}

Expected<std::string> file_content_key(const std::string& path) {
  TW_TRY(FileReader file, FileReader::open(path));
  ContentHasher hasher;
  std::vector<char> piece(size_t{1} << 20);
  for (;;) {
    TW_TRY(const size_t n, file.read(piece));
    if (n == 0) return hasher.key();
    hasher.add({piece.data(), n});
  }
}

Expected<void> make_parent_folder(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  std::error_code ec;
  if (!parent.empty()) std::filesystem::create_directories(parent, ec);
  if (ec) return Error(ErrorCode::io_error, fmt::format("Cannot create the folder '{}': {}", parent.string(), ec.message()));
  return {};
}

}  // namespace tw
