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
  double bytes = 0;                      ///< distinct bytes that one run of it touches, over all arrays: see tir::LoopFootprint
  std::map<std::string, double> arrays;  ///< the same for each array
};

/// One launch of a GPU's kernel by the formula of simulate/kernel_time.h. Times in seconds.
struct LaunchInsight {
  int64_t blocks = 0, threads = 0;           ///< of the grid; of a block
  int registers = 0, spilled_registers = 0;  ///< of a thread
  bool compiled = false;                     ///< the registers are NVRTC's, else an estimate
  int64_t shared_bytes = 0;                  ///< of a block
  int resident_blocks = 0;                   ///< on a multiprocessor at once
  double occupancy = 0;                      ///< part of a multiprocessor's warps that they are
  std::string limit;                         ///< what allows no more of them: "registers", ...
  double waves = 0;                          ///< rounds of blocks
  double seconds = 0;
  std::vector<std::pair<std::string, double>> parts;  ///< as if nothing else took any time: "arithmetic", "memory", ...
  std::string limiter;                                ///< the part that takes longest
};

/// What the loops of a candidate say of its speed, without running it.
struct Insight {
  double flops = 0;               ///< of one run of the task
  double compulsory_bytes = 0;    ///< te::io_bytes
  double vector_lanes = 1;        ///< iterations of the innermost vectorised loop of the nest, 1 if there is none
  std::vector<LoopInsight> nest;  ///< the nest with most iterations, from outside inwards
  std::vector<LaunchInsight> launches;  ///< for a GPU, in place of lanes and nest
};

/// Errors: why the steps are illegal for the task or cannot be lowered.
Expected<Insight> insight(const records::Task& task, const std::vector<schedule::Step>& steps);

}  // namespace tw::api
