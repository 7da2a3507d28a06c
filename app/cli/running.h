// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/tensors.h"
#include "engine/base/stop_token.h"
#include "engine/runtime/graph_executor.h"

namespace tw::cli {

/// Wall times of repeated runs, in seconds.
struct Latency {
  std::vector<double> runs_s;  ///< in order
  double min_s() const;
  double median_s() const;
  double max_s() const;
};

/// Loads the code of an executable into this process. Errors: unsupported if it was compiled for another kind of processor.
Expected<std::unique_ptr<runtime::GraphExecutor>> make_executor(std::shared_ptr<const runtime::Executable> executable);
/// One warm-up run, then `repeat` timed ones, or fewer when stopped. `times`: per call of the executable, summed over the timed runs.
Latency time_runs(runtime::GraphExecutor& executor, int repeat, std::vector<double>* call_seconds, StopToken stop);

}  // namespace tw::cli
