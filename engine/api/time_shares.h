// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/api/provenance.h"
#include "engine/codegen/codegen.h"

namespace tw::api {

/// How the time of one kernel is shared among its parts, as far as a model knows; nothing counts events by line. Shares are parts of 1, negative where nothing
/// is known of a line, which says nothing of how long it takes.
struct TimeShares {
  std::string source;        ///< which model says so, one sentence; empty: nothing is known, and the lists are empty
  std::vector<double> own;   ///< per line of the printed function, without what stands inside it: those that are known add up to 1
  std::vector<double> tir;   ///< the same with what stands inside it
  std::vector<double> loops; ///< per line of the outline of loops, with what stands inside it
  /// Per line of the assembly: those of instructions add up to 1; a label has what follows up to the next one. Empty for GPUs.
  std::vector<double> assembly;
};

/// For a processor each instruction of the listing takes the clocks of LLVM's table as often as its loops turn. Those that belong to no one line are left out,
/// and so is waiting for memory. For a GPU a launch takes the time of simulate/kernel_time.h, in which each statement has its part of what limits the launch:
/// instructions, accesses to shared memory or sectors of the GPU's.
/// `optimized`: the function after all passes, whose text the lines are of. `loop_lines`: of the outline that the provenance knows.
TimeShares time_shares(const tir::Func& optimized, const codegen::Listing& listing, const Target& target, const Provenance& provenance, size_t loop_lines);

}  // namespace tw::api
