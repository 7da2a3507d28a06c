// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/expected.h"

struct zip;

namespace tw::frontends {

/// A zip archive of members that are stored as they are, which is what PyTorch writes but for the code in TorchScript. Before anything is read the directory is looked through: names that
/// climb out of the archive or occur twice, members that overlap, leave the file or are compressed are refused.
class ZipArchive {
 public:
  struct Member {
    uint64_t index = 0;
    int64_t offset = 0;  ///< of its first byte in the file
    int64_t size = 0;
  };

  /// `packed`: members may be compressed, to 64 MiB of contents in all; they are listed and not read here.
  /// Errors: not_found, io_error, parse_error (no zip archive), corrupt, unsupported (compressed or encrypted members), resource_limit.
  static Expected<ZipArchive> open(const std::string& path, bool packed = false);

  const std::map<std::string, Member>& members() const { return members_; }
  const Member* find(const std::string& name) const;
  /// All bytes of a member. Errors: not_found, corrupt (its checksum), io_error.
  Expected<std::vector<std::byte>> read(const std::string& name) const;

 private:
  struct Closer {
    void operator()(zip* z) const;
  };
  ZipArchive() = default;
  std::unique_ptr<zip, Closer> zip_;
  std::map<std::string, Member> members_;
};

}  // namespace tw::frontends
