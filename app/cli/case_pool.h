// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "app/cli/conformance.h"
#include "engine/base/stop_token.h"

namespace tw::cli {

struct PoolOptions {
  int jobs = 1;
  double timeout_s = 60;  ///< wall time of one case
  CaseOptions cases;      ///< `device`: a GPU, by measure::open_gpu's names; empty: this machine's processor
};

/// Runs cases in child processes that take one after another; a child that dies or takes too long is a crashed case and is replaced.
/// Results in the order of `folders`; `done` is called after each. Errors: infrastructure, cancelled.
Expected<std::vector<CaseResult>> run_cases(const std::vector<std::string>& folders, const PoolOptions& options,
                                            const std::function<void(const CaseResult&)>& done, StopToken stop);

}  // namespace tw::cli
