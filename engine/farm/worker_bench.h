// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/farm/agent.h"
#include "engine/measure/worker.h"
#include "engine/target/target.h"

namespace tw::farm {

/// Measures on this machine's processors, in a measuring worker like a session's own: `program` in the role `measure`, through an emulator of processes if one is
/// named.
class WorkerBench final : public Bench {
 public:
  WorkerBench(const std::string& program, int64_t memory_bytes, Target machine, const std::string& emulator = {});
  Expected<process::Frame> measure(const Json& job, const std::vector<std::byte>& object, StopToken stop) override;
  Expected<measure::References> references(StopToken stop) override;
  std::string refusal(const std::string& target) const override;
  void recycle() override { link_.drop(); }
  std::string isolation() const override { return isolation_; }

 private:
  measure::WorkerLink link_;
  Target machine_;
  std::string isolation_;
};

}  // namespace tw::farm
