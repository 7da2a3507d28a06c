// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/tensors.h"
#include "engine/base/stop_token.h"
#include "engine/runtime/gpu_device.h"
#include "engine/runtime/graph_executor.h"

namespace tw::cli {

/// Wall times of repeated runs, in seconds.
struct Latency {
  std::vector<double> runs_s;  ///< in order
  double min_s() const;
  double median_s() const;
  double max_s() const;
};

/// A GPU by measure::open_gpu's names, opened once and kept: a context on a real one takes a fifth of a second to make.
Expected<std::shared_ptr<runtime::GpuDevice>> gpu_device(const std::string& name);
/// Loads the code of an executable into this process. `device` for one that is for a GPU: measure::open_gpu's names; empty: this machine's first. Machine code
/// that is missing for that GPU is compiled now. Errors: unsupported if it was compiled for another kind of processor; those of the device.
Expected<std::unique_ptr<runtime::GraphExecutor>> make_executor(std::shared_ptr<const runtime::Executable> executable, const std::string& device = {});
/// What each call of an executable took, over timed runs.
struct CallProfile {
  std::vector<double> median_s;  ///< per call
  std::vector<bool> woke;        ///< per call: in most runs its loops found threads asleep
};
/// One warm-up run, then `repeat` timed ones, or fewer when stopped; of a simulated device, where all runs are alike, one. Errors: the device's.
Expected<Latency> time_runs(runtime::GraphExecutor& executor, int repeat, CallProfile* profile, StopToken stop, bool simulated = false);

}  // namespace tw::cli
