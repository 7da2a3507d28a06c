// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/base/expected.h"

namespace tw::farm {

/// Results that the server does not have yet, as files: an agent that is killed publishes them when it is there again.
class Spool {
 public:
  struct Entry {
    std::string identity;
    std::string acknowledge;  ///< subject that ends the lease of the job
    std::string result;       ///< farm::result_text
  };
  /// Files of earlier lives are read; damaged ones are removed. Errors: those of the folder.
  static Expected<Spool> open(const std::string& folder);
  /// On the disk when it returns ok. A full disk is an error, and the entry is kept in memory all the same.
  Expected<void> add(const Entry& entry);
  void remove(const std::string& identity);
  /// The oldest first.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  std::string path_of(const std::string& identity) const;
  std::string folder_;
  std::vector<Entry> entries_;
};

}  // namespace tw::farm
