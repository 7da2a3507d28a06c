// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "engine/base/expected.h"

namespace tw::farm {

/// Results that the server does not have yet, in files: an agent that is killed publishes them when it is there again. A file is used again and again, since
/// making and removing one for each result was most of what a result cost; a digest tells one that was only half written.
class Spool {
 public:
  struct Entry {
    std::string identity;
    std::string subject;      ///< that the result is sent to
    std::string acknowledge;  ///< subject that ends the lease of the job
    std::string result;       ///< farm::result_text
  };
  /// What earlier lives left is read. Errors: those of the folder.
  static Expected<Spool> open(const std::string& folder);
  ~Spool();
  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&&) = delete;
  /// Writes on a thread of its own, as a disk may take longer than a measurement: on the disk when the answer is ok. A full disk is an error, and the entry is
  /// kept in memory all the same. `done` is called on that thread. The answer is waited for before this goes.
  std::future<Expected<void>> add(const Entry& entry, const std::function<void()>& done);
  void remove(const std::string& identity);
  /// The oldest first, after those of earlier lives.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  /// A file that holds one entry or none.
  struct File {
    int fd = -1;
    std::string identity;  ///< empty: none
  };
  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
  std::vector<Entry> entries_;
  std::vector<File> files_;
};

}  // namespace tw::farm
