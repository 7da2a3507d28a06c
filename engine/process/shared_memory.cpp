// SPDX-License-Identifier: Apache-2.0
#include "engine/process/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "engine/base/text.h"

namespace tw::process {

namespace {

constexpr int64_t kSpace = int64_t{1} << 40;  ///< addresses, of which pages are taken as they are written
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

int64_t whole_pages(int64_t bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

}  // namespace

struct SharedMemory::File {
  int fd;
  explicit File(int f) : fd(f) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(fd); }
};

SharedMemory::SharedMemory(std::shared_ptr<const File> file) : file_(std::move(file)), fd_(file_->fd) {}
SharedMemory::~SharedMemory() = default;

Expected<std::shared_ptr<SharedMemory>> SharedMemory::create() {
  const int fd = memfd_create("tilewright", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return Error(ErrorCode::infrastructure, fmt::format("Making memory for two processes failed: {}", std::strerror(errno)));
  auto file = std::make_shared<const File>(fd);
  // Nobody can take the end away under a mapping.
  if (ftruncate(fd, kSpace) != 0 || fcntl(fd, F_ADD_SEALS, kSeals) != 0)
    return Error(ErrorCode::infrastructure, fmt::format("Making memory for two processes failed: {}", std::strerror(errno)));
  return std::shared_ptr<SharedMemory>(new SharedMemory(std::move(file)));
}

Expected<std::shared_ptr<SharedMemory>> SharedMemory::open(int fd) {
  if (fcntl(fd, F_GET_SEALS) != kSeals) return Error(ErrorCode::infrastructure, "Expected memory for two processes, found another descriptor or none");
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return std::shared_ptr<SharedMemory>(new SharedMemory(std::make_shared<const File>(fd)));
}

SharedMemory::Part SharedMemory::room(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const int64_t size = whole_pages(static_cast<int64_t>(bytes)), at = next_;
  if (bytes == 0 || size < 0 || size > kSpace - at) throw std::bad_alloc();
  void* memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, at);
  if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_POPULATE_WRITE
  madvise(memory, static_cast<size_t>(size), MADV_POPULATE_WRITE);  // at once rather than page by page; kernels before 5.14 do it page by page
#endif
  next_ += size;
  auto* begin = static_cast<std::byte*>(memory);
  places_[begin] = at;
  const auto unmap = [file = file_, size](const std::byte* p) { munmap(const_cast<std::byte*>(p), static_cast<size_t>(size)); };
  return {{begin, bytes}, std::shared_ptr<const std::byte>(begin, unmap)};
}

int64_t SharedMemory::place_of(const std::byte* part) const {
  const std::lock_guard lock(mutex_);
  const auto it = places_.find(part);
  return it == places_.end() ? -1 : it->second;
}

Expected<SharedMemory::Part> SharedMemory::part(int64_t place, int64_t bytes) const {
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (place < 0 || bytes <= 0 || place % page != 0 || place > kSpace || bytes > kSpace - place)
    return Error(ErrorCode::parse_error, fmt::format("Expected a part of the shared memory, found {} bytes at {}", bytes, place));
  const int64_t size = whole_pages(bytes);
  void* memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, fd_, place);
  if (memory == MAP_FAILED) return Error(ErrorCode::out_of_memory, fmt::format("No addresses for {} bytes of shared memory", bytes));
  auto* begin = static_cast<std::byte*>(memory);
  // Whoever reads has them last: the pages go with the mapping.
  const auto give_back = [file = file_, size, place](const std::byte* p) {
    munmap(const_cast<std::byte*>(p), static_cast<size_t>(size));
    fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place, size);
  };
  return Part{{begin, static_cast<size_t>(bytes)}, std::shared_ptr<const std::byte>(begin, give_back)};
}

}  // namespace tw::process
