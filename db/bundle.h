// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "db/database.h"
#include "engine/process/temporary_folder.h"

/// Bundles (.twz): sessions of a workspace in one file to hand on. A bundle is a workspace that holds nothing else, as one frame of zstd (RFC 8878): `zstd -d` takes
/// it apart too. Database::open reads bundles as they are.
namespace tw::db {

/// Whether a file begins as a bundle does; false too for one that cannot be read.
bool is_bundle(const std::string& path);

struct BundleReport {
  int64_t sessions = 0, trials = 0, bytes = 0;  ///< in it; of the file
};
/// Packs sessions with the rows of their networks and tasks, their rounds, events, finals and notes; all sessions if none is named. Of the paths of networks the
/// names of the files alone go with them. May run beside a writer; the workspace stays as it is. Errors: those of Database::open; not_found for a session;
/// invalid_argument if `to` is another kind of file; no_space, io_error.
Expected<BundleReport> pack_bundle(const std::string& workspace, std::span<const SessionId> sessions, const std::string& to);

/// Makes a workspace of a bundle, in a file that was not there. Errors: parse_error, corrupt or version for what is no sound bundle; invalid_argument if `to` exists;
/// no_space also where little would be left on the disk.
Expected<void> unpack_bundle(const std::string& bundle, const std::string& to);

/// An unpacked bundle that is gone from the folder for temporary files with this object; a connection that is open goes on reading it.
class UnpackedBundle {
 public:
  /// Of the newest format, whatever the bundle has. Errors: those of unpack_bundle.
  static Expected<UnpackedBundle> of(const std::string& bundle);
  /// In a folder of its own, whether it is there yet or not.
  explicit UnpackedBundle(process::TemporaryFolder folder) : folder_(std::move(folder)) {}
  std::string path() const;

 private:
  process::TemporaryFolder folder_;
};

}  // namespace tw::db
