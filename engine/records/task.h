// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/te/dag.h"

namespace tw::records {

/// A tuning task: one computation for one target.
struct Task {
  std::string key;   ///< content key of the canonical dag and the target; the same over runs and machines
  std::string name;  ///< such as `fused_conv2d_add_relu`; for people
  te::DagPtr dag;
  Target target;
  int64_t flops = 0;  ///< of one run
};

Task make_task(std::string name, te::DagPtr dag, const Target& target);

}  // namespace tw::records
