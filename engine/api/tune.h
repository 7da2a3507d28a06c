// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/measure/device.h"
#include "engine/records/session_store.h"
#include "engine/tune/session.h"

namespace tw::api {

/// A session that is to be run, from the command line as from the workbench.
struct TuneRequest {
  std::vector<tune::SessionTask> tasks;  ///< their histories are read from the store where a session goes on
  std::vector<std::string> filters;      ///< how the tasks were chosen: parts of names or beginnings of keys; empty: all of the network's
  Target target;
  tune::SessionOptions options;
  std::string device = measure::kLocalDevice;  ///< see measure/device.h; or `recorded:` and a workspace, whose trials are replayed
  measure::WorkerOptions workers;
  bool resume = false;  ///< go on with `session`, or without one with the newest that is_same_search() finds; if there is none, begin
  SessionId session;
  std::string race;  ///< name of the race that it is part of, which is stored with it; empty for none
  std::shared_ptr<const records::RecordedTrials> replay;  ///< what a device `recorded:` answers from; null: the store's trials of the file that the device names
};

/// What a session is known by when one goes on with it: tuner, seed, parameters, scheduler, space, device and choice of tasks.
Json session_identity(const TuneRequest& request);
bool is_same_search(const records::StoredSession& stored, const TuneRequest& request);

/// The session that a request goes on with; none if it begins one. Errors: not_found for a session that it names; invalid_argument if that one is for
/// another target; those of the store.
Expected<SessionId> session_to_resume(const TuneRequest& request, records::SessionStore& store);

struct TuneHooks {
  tune::EventSink events;  ///< may be empty
  /// Before the first event: the session, and how many trials of each task it has already.
  std::function<void(SessionId session, const std::vector<int64_t>& trials)> begun = {};
  records::RecordSink* also = nullptr;  ///< gets every trial before the store does: what is stored is there too, whenever the process is killed
  std::function<bool()> paused = {};
  StopToken stop = {};
  /// What runs the loop; empty: run_session on the device that the request names.
  std::function<Expected<tune::SessionReport>(const std::vector<tune::SessionTask>& tasks, const tune::SessionOptions& options, records::RecordSink& sink,
                                              const tune::EventSink& events, const tune::SessionControl& control,
                                              const std::shared_ptr<const records::RecordedTrials>& replay)>
      loop = {};
};

struct TuneOutcome {
  SessionId session;
  int64_t resumed_trials = 0;  ///< that were there before
  tune::SessionReport report;
};

/// Begins a session or goes on with one, runs it to its end and stores how it ended. Everything that was told of is stored, also when it is cancelled.
/// Errors: those of session_to_resume; not_found for a workspace to be replayed that has none of the tasks; what the store, the device and
/// run_session say.
Expected<TuneOutcome> tune(TuneRequest request, records::SessionStore& store, const TuneHooks& hooks);

}  // namespace tw::api
