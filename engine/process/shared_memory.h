// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "engine/base/expected.h"

namespace tw::process {

/// The descriptor on which a child finds memory that it shares with whoever started it.
inline constexpr int kSharedFd = 4;

/// Memory that two processes see: one writes parts of it, the other maps them by their place, so that nothing large is in memory twice or goes through a channel.
/// Pages are taken when they are written and given back with the part they belong to.
class SharedMemory {
 public:
  struct Part {
    std::span<std::byte> bytes;
    std::shared_ptr<const void> keeper;  ///< the part goes with it
  };

  /// Errors: infrastructure.
  static Expected<std::shared_ptr<SharedMemory>> create();
  /// What `create` made, behind a descriptor that this process was given. Errors: infrastructure.
  static Expected<std::shared_ptr<SharedMemory>> open(int fd);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int fd() const { return fd_; }
  /// `bytes` that nobody has, zero. Throws std::bad_alloc.
  Part room(size_t bytes);
  /// Where a part begins that `room` gave; -1 for other memory.
  int64_t place_of(const std::byte* part) const;
  /// `bytes` at a place that the other process named, for reading. Errors: parse_error for a place that cannot be, out_of_memory.
  Expected<Part> part(int64_t place, int64_t bytes) const;

 private:
  struct File;
  explicit SharedMemory(std::shared_ptr<const File> file);

  std::shared_ptr<const File> file_;
  int fd_;
  int64_t next_ = 0;
  mutable std::mutex mutex_;
  std::map<const std::byte*, int64_t> places_;
};

}  // namespace tw::process
