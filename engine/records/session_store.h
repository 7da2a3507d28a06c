// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/json_fwd.h"
#include "engine/records/record_sink.h"
#include "engine/records/recorded_trials.h"

namespace tw::records {

/// Key in the description of the host that is stored with a session: how long extracting the network's tasks took, in seconds.
inline constexpr const char* kExtractTime = "extract_s";

/// What was measured of a task.
struct TaskRecords {
  Task task;
  std::vector<Record> records;
};

/// A session as it was begun.
struct StoredSession {
  SessionId id;
  std::string tuner, target;
  std::string options;  ///< JSON text, as begin() was given it
};

/// Where the sessions of one network are kept; the database implements it. Errors are the store's own.
class SessionStore {
 public:
  virtual ~SessionStore() = default;
  /// Ascending by id.
  virtual Expected<std::vector<StoredSession>> sessions() = 0;
  /// `options` is kept as it is, with the machine that it runs on.
  virtual Expected<SessionId> begin(const std::string& tuner, const std::string& target, const Json& options) = 0;
  /// A session that ended or was interrupted runs again, with the limits of these options.
  virtual Expected<void> go_on(SessionId session, const Json& options) = 0;
  /// `state`: "done", "cancelled" or "interrupted".
  virtual Expected<void> end(SessionId session, const std::string& state) = 0;
  virtual std::unique_ptr<RecordSink> sink(SessionId session) = 0;
  /// Trials of a session in their order, with samples; none if it has none of the task.
  virtual Expected<std::vector<Record>> trials(SessionId session, const Task& task) = 0;
  virtual Expected<std::vector<Round>> rounds(SessionId session) = 0;
  /// What all sessions measured for a target.
  virtual Expected<std::vector<TaskRecords>> earlier(const Target& target) = 0;
  /// Trials of the tasks in a workspace, which may be this one; replays left out.
  virtual Expected<std::shared_ptr<RecordedTrials>> recorded(const std::string& file, const std::vector<std::string>& task_keys) = 0;
};

}  // namespace tw::records
