// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>

#include "engine/records/record_sink.h"

namespace tw::records {

/// Records kept in memory, for tests and for runs without a workspace. Thread-safe.
class MemoryStore : public RecordSink, public RecordSource {
 public:
  Expected<void> store(const Task& task, const std::vector<Record>& records) override;
  Expected<void> store(const Task& task, const std::vector<Record>& records, const Round& round) override;
  Expected<void> settle(const Task& task, const std::vector<Record>& finalists) override;
  Expected<std::optional<Record>> best(const std::string& task_key, Weights in_network) override;
  std::vector<Record> records() const;
  std::vector<Round> rounds() const;  ///< ascending by number

 private:
  mutable std::mutex mutex_;
  std::vector<Record> records_;
  std::map<int64_t, Round> rounds_;
};

}  // namespace tw::records
