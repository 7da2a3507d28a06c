// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "engine/base/expected.h"

namespace tw::db {

/// The writer's claim on a workspace: an exclusive flock on the file itself, whatever name leads to it; it does not meet the locks of SQLite, which are of
/// another kind. The kernel frees it when the process ends in any way. Beside the file lies `<db>.lock` with the writer's process id for as long as it is open:
/// one that was left behind tells that the last end was not clean. Programs of earlier versions lock that file alone, so it is locked as well.
class LockFile {
 public:
  /// `path`: of the workspace, with links resolved; it is created, empty, if there is none. Errors: infrastructure if another process writes to it (the message
  /// names it), invalid_argument for a file with several names, io_error.
  static Expected<std::unique_ptr<LockFile>> acquire(const std::string& path);
  /// Marks the end as clean and frees the lock. The connection must be closed before.
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  bool last_end_was_clean() const { return clean_; }

 private:
  LockFile(int file, int note, bool clean) : file_(file), note_(note), clean_(clean) {}
  int file_, note_;
  bool clean_;
};

/// Closes descriptors of locked files that had to stay open: closing any descriptor of a file drops SQLite's locks on it for the whole process. To be called
/// when a connection is closed.
void close_parked();

}  // namespace tw::db
