// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/stop_token.h"
#include "engine/measure/measure.h"
#include "engine/measure/network_job.h"

namespace tw::measure {

/// Runs whole networks against each other, in processes that may die.
class NetworkRunner {
 public:
  virtual ~NetworkRunner() = default;
  /// One job in a fresh process. Errors: cancelled; unsupported for what the files are compiled for; infrastructure with what went wrong in the process.
  virtual Expected<NetworkTimes> run(const NetworkJob& job, StopToken stop) = 0;
};

/// `notice` is told what a person should know while it takes long, such as who holds the device. Errors: not_found if the worker program is missing.
Expected<std::unique_ptr<NetworkRunner>> network_runner(const WorkerOptions& options, std::function<void(const std::string&)> notice = {});

}  // namespace tw::measure
