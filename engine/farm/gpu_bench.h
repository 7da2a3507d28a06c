// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/farm/agent.h"
#include "engine/measure/gpu_link.h"
#include "engine/target/target.h"

namespace tw::farm {

/// Measures on a GPU of this machine, in a `tw-worker` that owns its context: a static program cannot open the driver, so where there is a GPU there is
/// Tilewright's worker too.
class GpuBench final : public Bench {
 public:
  /// `worker`: path of tw-worker; `device`: such as `cuda:0`. Errors: why there is no such GPU.
  static Expected<std::unique_ptr<GpuBench>> open(const std::string& worker, const std::string& device, int64_t memory_bytes);
  const Target& target() const { return target_; }

  Expected<process::Frame> measure(const Json& job, const std::vector<std::byte>& object, StopToken stop) override;
  /// Whether the GPU answers; how fast it is, nobody measures.
  Expected<measure::References> references(StopToken stop) override;
  std::string refusal(const std::string& target) const override;
  void recycle() override { link_.drop(); }

 private:
  GpuBench(const std::string& worker, std::string device, int64_t memory_bytes) : link_(worker, "gpu", memory_bytes), device_(std::move(device)) {}
  measure::WorkerLink link_;
  measure::GpuLink gpu_{link_};
  std::string device_;
  Target target_;
};

}  // namespace tw::farm
