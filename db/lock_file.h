// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "engine/base/expected.h"

namespace tw::db {

/// The writer's claim on a workspace: an exclusive flock on `<db>.lock`, which holds the writer's process id.
/// The kernel frees the lock when the process ends in any way; a leftover file only tells that the last end was not clean.
class LockFile {
 public:
  /// Errors: infrastructure if another process holds it (the message has its id), io_error.
  static Expected<std::unique_ptr<LockFile>> acquire(const std::string& path);
  /// Marks the end as clean and frees the lock.
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  bool last_end_was_clean() const { return clean_; }

 private:
  LockFile(int fd, bool clean) : fd_(fd), clean_(clean) {}
  int fd_;
  bool clean_;
};

}  // namespace tw::db
