// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/records/record.h"

namespace tw::records {

/// Begins the name of a device that measures nothing and answers from trials that were stored: `recorded:` and the file that holds them.
inline constexpr std::string_view kRecordedDevice = "recorded:";

/// Trials that were measured before, by task and point.
class RecordedTrials {
 public:
  /// Of several trials of a point the one added last stays; those that say nothing of their candidate are passed over.
  void add(Record record);
  /// Null if nothing is known of the candidate.
  const Record* find(const std::string& task_key, const Candidate& candidate) const;
  /// A task's, in no particular order.
  std::vector<const Record*> all(const std::string& task_key) const;
  /// Indices of the points of a space, ascending.
  std::vector<int64_t> points(const std::string& task_key, const std::string& space) const;
  size_t size() const;
  /// How many of a task's.
  size_t size(const std::string& task_key) const;

 private:
  struct OfTask {
    std::map<uint64_t, Record> trials;                ///< by identity()
    std::map<std::string, std::set<int64_t>> points;  ///< by space: those with an index
  };
  std::map<std::string, OfTask> tasks_;
};

}  // namespace tw::records
