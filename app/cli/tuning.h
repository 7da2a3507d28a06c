// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/network.h"
#include "db/database.h"
#include "engine/base/json_fwd.h"
#include "engine/measure/device.h"
#include "engine/tune/session.h"

namespace tw::cli {

/// One tuning session of a network, stored in a database.
struct TuneRequest {
  const LoadedNetwork* network = nullptr;
  std::string model_path;
  std::vector<std::string> filters;  ///< parts of task names or beginnings of task keys; empty: all tasks
  tune::SessionOptions session;
  bool resume = false;   ///< go on with `earlier`, or without one with the last session of the same model, tuner, target and seed
  std::string log_path;      ///< AutoTVM's JSON lines are appended to it; none if empty
  std::string latency_path;  ///< the network's curve is written to it; none if empty
  measure::WorkerOptions workers;
  std::string device = measure::kLocalDevice;  ///< see measure/device.h; or `recorded:` and a workspace, whose trials are replayed
  SessionId earlier = {};
  std::string race = {};  ///< of which it is a part; none if empty
};

/// Why no trial of a session gave a time, by kind of failure.
std::string nothing_measured_text(const tune::SessionReport& report);

struct TuneResult {
  std::vector<api::NetworkTask> tasks;
  tune::SessionReport report;  ///< one entry per task, in their order
  SessionId session;
  int64_t resumed_trials = 0;  ///< trials that were there before
  std::string device;          ///< that measured
  std::optional<Error> lost;   ///< a file beside the database that could not be written
};

/// Tunes and shows progress on standard error. Everything reported is stored, also when it is cancelled.
/// Errors: invalid_argument if no task matches the filters; what the database, the worker and the session say.
Expected<TuneResult> tune_network(const TuneRequest& request, const std::shared_ptr<db::Database>& db);

/// A network's rows in a database.
struct StoredNetwork {
  ModelId model;
  std::vector<TaskId> tasks;  ///< in the order given
};
/// Puts the model and the tasks into the database; what is there already stays.
Expected<StoredNetwork> store_network(db::Database& db, const LoadedNetwork& loaded, const std::string& path, const std::vector<api::NetworkTask>& tasks);

/// The document of `tw tune --json`.
Json tune_json(const TuneRequest& request, const TuneResult& result);
/// One line per task: default, best, speed-up, rate, trials, failures by kind; then the sum over the network.
/// Says so if the times are simulated.
std::string tune_table(const TuneResult& result);

/// Network time as the sum of weight × time over the tasks; infinity where one has none.
struct NetworkTime {
  double default_s = 0, best_s = 0;
};
NetworkTime network_time(const TuneResult& result);

}  // namespace tw::cli
