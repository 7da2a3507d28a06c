// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/base/stop_token.h"
#include "engine/farm/farm_file.h"
#include "engine/farm/messages.h"

namespace tw::farm {

/// What an agent measures with: its measuring worker, or recorded times in a simulation.
class Bench {
 public:
  virtual ~Bench() = default;
  /// The worker's answer to a measure::MeasureJob in JSON. On a thread of its own, one at a time. Errors: cancelled; what the machine failed at.
  virtual Expected<process::Frame> measure(const Json& job, const std::vector<std::byte>& object, StopToken stop) = 0;
  /// How fast the machine is right now; also whether it can measure at all.
  virtual Expected<measure::References> references(StopToken stop) = 0;
  /// Why the machine does not run code for a target, by Target::str(); empty if it does.
  virtual std::string refusal(const std::string& target) const {
    static_cast<void>(target);
    return {};
  }
  /// The next measurement gets a fresh worker.
  virtual void recycle() {}
  virtual std::string isolation() const { return {}; }
};

struct AgentOptions {
  Access access;
  std::string device;
  std::string folder;  ///< for the spool, the state and the lock; one agent at a time has it
  std::string target;  ///< Target::str() of the machine
  bool emulated = false;
  double lease_s = kLeaseSeconds, presence_s = kPresenceSeconds;
  double cooldown_s = 0;  ///< between measurements
  std::function<void(const std::string&)> log;  ///< may be empty
};

/// One device of a farm: takes jobs of its kind from the queue, one at a time, has them measured, and sends what came out, each once as far as the server can tell.
///
/// A lease lasts `lease_s` from the last sign of life that the server has confirmed. The agent gives one three times as often; one whose lease has nearly run out
/// stops the candidate, so that no two devices run one job at a time. A result is a file before it is sent; the job is acknowledged once the server keeps
/// the result. No decision depends on a wall clock.
class Agent {
 public:
  /// Errors: those of the folder; infrastructure if another agent has it.
  static Expected<std::unique_ptr<Agent>> create(AgentOptions options, Bench& bench);
  ~Agent();
  /// Serves until it is stopped; finds the server again when the connection is lost. Errors: invalid_argument if the server refuses this agent.
  Expected<void> run(StopToken stop);

 private:
  struct Impl;
  explicit Agent(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tw::farm
