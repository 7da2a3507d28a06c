// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/base/rng.h"
#include "engine/measure/network_job.h"
#include "engine/runtime/graph_executor.h"

namespace tw::measure {

/// Variants loaded into this process, which they may crash, and what comes of running them by turns.
class NetworkRace {
 public:
  using ExecutablePtr = std::shared_ptr<const runtime::Executable>;
  using MakeExecutor = std::function<Expected<std::unique_ptr<runtime::GraphExecutor>>(const ExecutablePtr& variant)>;
  /// `job` must outlive this; its paths are not read.
  NetworkRace(const NetworkJob& job, std::vector<ExecutablePtr> variants);

  /// `apart`: the times of calls are taken in another way than those of runs, as on a GPU. Errors: those of `make` and of the inputs.
  Expected<void> load(const MakeExecutor& make, bool apart);
  /// The same on this machine's processors, which are not tried for their features.
  Expected<void> load_here();
  Expected<NetworkTimes> run();

 private:
  std::vector<size_t> random_order();
  Expected<void> block(size_t v, int runs, VariantTimes& times);
  void add_profile(size_t v, const std::vector<runtime::CallTime>& profile, std::vector<std::vector<double>>& calls);

  const NetworkJob& job_;
  std::vector<ExecutablePtr> variants_;
  std::vector<std::unique_ptr<runtime::GraphExecutor>> executors_;
  std::vector<std::vector<int>> woke_;  ///< per variant and call
  std::vector<int> profiled_;           ///< runs with a profile, per variant
  bool apart_ = false;
  Rng rng_;
};

}  // namespace tw::measure
