// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/records/task.h"
#include "engine/schedule/step.h"
#include "engine/tir/stmt.h"

namespace tw::api {

/// One loop around the innermost work of a kernel, with what one run of it touches.
struct LoopInsight {
  std::string name;  ///< of the loop variable
  tir::ForKind kind = tir::ForKind::serial;
  double extent = 0;                     ///< -1 if it is no constant
  double runs = 1;                       ///< how often the whole loop runs
  double bytes = 0;                      ///< distinct bytes that one run of it touches, over all arrays
  std::map<std::string, double> arrays;  ///< the same for each array
};

/// What the loops of a candidate say of its speed, without running it.
struct Insight {
  double flops = 0;               ///< of one run of the task
  double compulsory_bytes = 0;    ///< every input and output once
  double vector_lanes = 1;        ///< iterations of the innermost vectorised loop of the nest, 1 if there is none
  std::vector<LoopInsight> nest;  ///< the nest with most iterations, from outside inwards
  /// For a GPU, in place of what is above but `flops`: a few sentences for each launch on what fits on a multiprocessor and where the simulated time goes.
  std::vector<std::string> launches;
};

/// Errors: why the steps are illegal for the task or cannot be lowered.
Expected<Insight> insight(const records::Task& task, const std::vector<schedule::Step>& steps);

}  // namespace tw::api
