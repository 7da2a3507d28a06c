// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/cuda/nvrtc.h"
#include "engine/records/record.h"
#include "engine/tir/stmt.h"

namespace tw::api {

struct GpuCheckOptions {
  int blocks = 3;                      ///< that are run; a kernel in several launches is run whole
  uint64_t seed = 1;                   ///< of inputs and of which blocks and elements
  int elements = 256;                  ///< of each block's results that are compared
  std::vector<int> capabilities;       ///< the machine code that is made, such as 80 and 90; needs NVRTC
  int64_t most_flops = 1'000'000'000;  ///< of a kernel in several launches, which is run whole: some 0.1 us an operation
  bool tf32 = false;                   ///< products in float32 may have been rounded; of a task its target says so
  StopToken stop = {};
};

/// What was looked at, and that it was right.
struct GpuCheck {
  int64_t blocks = 0, blocks_run = 0;
  std::string not_run;   ///< why no block was run; empty if some were
  int64_t elements = 0;  ///< compared with the interpreter of tensor expressions
  double max_rel_error = 0;
  std::vector<std::vector<codegen::KernelResources>> resources;  ///< per capability, in the order of the launches
};

/// Runs some blocks of a GPU's kernel at its full size in the interpreter, thread by thread, which finds races, threads that part before a barrier, and reads
/// of what was never written or lies outside; compares what they wrote with the definition; and compiles the text for each capability. No GPU is needed.
/// A kernel in several launches of too much work is compiled only. Errors: wrong_result with what went wrong; what lowering, the code generator and NVRTC say.
Expected<GpuCheck> check_gpu_kernel(const records::Task& task, const std::vector<schedule::Step>& steps, const GpuCheckOptions& options);
/// The same for a lowered function of the dag.
Expected<GpuCheck> check_gpu_kernel(const te::Dag& dag, const tir::Func& func, const GpuCheckOptions& options);

}  // namespace tw::api
