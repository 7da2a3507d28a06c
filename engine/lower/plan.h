// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "engine/lower/domain.h"
#include "engine/lower/launch.h"

namespace tw::lower {

/// What is known of a schedule before its nests are written.
struct Plan {
  const std::vector<schedule::Stage>& stages;  ///< prepared_stages()
  const std::vector<int>& outputs;             ///< stage indices
  const DomainInference& domains;
  const LaunchPlan& launches;

  const schedule::Stage& stage(int i) const { return stages[static_cast<size_t>(i)]; }
  bool is_output(int i) const { return std::find(outputs.begin(), outputs.end(), i) != outputs.end(); }
};

}  // namespace tw::lower
