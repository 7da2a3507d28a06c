// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engine/base/rng.h"
#include "engine/tir/interp.h"
#include "engine/tir/interp_thread.h"

namespace tw::tir::interp {

/// Runs launches block by block, and in a block what its threads do between barriers thread by thread, each through `one`.
class LaunchRunner {
 public:
  LaunchRunner(Machine& machine, ThreadRunner& one, ThreadOrder order) : m_(machine), one_(one), order_(order), rng_(order.seed) {}

  /// The outermost loop over blocks or threads. False after an error.
  bool run(const Exec& x);

 private:
  bool run_blocks(const Exec& x);
  bool run_block(const Exec& block);
  void order_threads();
  bool next_epoch();
  bool together(const Exec& x);
  bool loop_together(const Exec& x);
  bool let_together(const Exec& x);
  bool alloc_together(const Exec& x);
  std::optional<int64_t> agreed(const Exec& x, const ir::EvalCode& code, const char* what);
  bool combine_threads(const Exec& x);
  bool multiply_tiles(const Exec& x);

  Machine& m_;
  ThreadRunner& one_;
  ThreadOrder order_;
  Rng rng_;
  std::vector<size_t> sequence_;  ///< of the threads of the running block
  WarpTiles first_lane_;          ///< what that of the running warp multiplies
};

}  // namespace tw::tir::interp
