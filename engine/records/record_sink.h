// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engine/records/record.h"
#include "engine/records/round.h"

namespace tw::records {

/// Where a session's records go. The database implements it; so do in-memory sinks of tests.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Stores a batch of trials; when it returns ok they survive the death of the process.
  virtual Expected<void> store(const Task& task, const std::vector<Record>& records) = 0;
  /// The same for trials of a round, together with the round as it stands after them: both or none survive. The round replaces the one of its number. Sinks
  /// whose form has no place for rounds keep the trials.
  virtual Expected<void> store(const Task& task, const std::vector<Record>& records, const Round& round) {
    static_cast<void>(round);
    return store(task, records);
  }
  /// Adds `verdict` to trials that were stored before. Sinks whose form has no place for it do nothing.
  virtual Expected<void> settle(const Task& task, const std::vector<Record>& finalists) {
    static_cast<void>(task), static_cast<void>(finalists);
    return {};
  }
  /// Something that happened to the session, for a person who looks at it later: `kind` is one word. Sinks without a place for it do nothing.
  virtual Expected<void> note(const std::string& kind, const std::string& text) {
    static_cast<void>(kind), static_cast<void>(text);
    return {};
  }
};

/// What became of a record that won alone when it was tried inside a network.
struct InNetwork {
  bool taken = true;                   ///< the network is surely faster with it, or with the group that it was tried with
  double ratio = 1, low = 1, high = 1;  ///< its time in its place ÷ that of the default schedule there, with its 95 % interval
  double default_s = 0;                ///< of the default schedule alone; infinity if it is not known
};

/// Where compile and resume look records up.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// What the last finals in this network, by the content key of its file, said of a record that `best` gave; nothing if it was never tried there.
  virtual Expected<std::optional<InNetwork>> in_network(const std::string& network, const Record& record) {
    static_cast<void>(network), static_cast<void>(record);
    return std::optional<InNetwork>();
  }
  /// Fastest verified trial of a task; where none is verified (logs of others), the fastest of those; or nothing. Of either, those that were timed with constants
  /// where the network has them come before the others: what stays in caches flatters schedules that wait for memory elsewhere.
  virtual Expected<std::optional<Record>> best(const std::string& task_key, Weights in_network) = 0;
};

}  // namespace tw::records
