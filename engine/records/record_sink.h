// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engine/records/record.h"

namespace tw::records {

/// Where a session's records go. The database implements it; so do in-memory sinks of tests.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Stores a batch of trials; when it returns ok they survive the death of the process.
  virtual Expected<void> store(const Task& task, const std::vector<Record>& records) = 0;
  /// Adds `verdict` to trials that were stored before. Sinks whose form has no place for it do nothing.
  virtual Expected<void> settle(const Task& task, const std::vector<Record>& finalists) {
    static_cast<void>(task), static_cast<void>(finalists);
    return {};
  }
};

/// Where compile and resume look records up.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// Fastest verified trial of a task; where none is verified (logs of others), the fastest of those; or nothing.
  virtual Expected<std::optional<Record>> best(const std::string& task_key) = 0;
};

}  // namespace tw::records
