// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "engine/records/record_sink.h"

namespace tw::records {

/// Records kept in memory, for tests and for runs without a workspace. Thread-safe.
class MemoryStore : public RecordSink, public RecordSource {
 public:
  Expected<void> store(const Task& task, const std::vector<Record>& records) override;
  Expected<void> settle(const Task& task, const std::vector<Record>& finalists) override;
  Expected<std::optional<Record>> best(const std::string& task_key) override;
  std::vector<Record> records() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Record> records_;
};

}  // namespace tw::records
