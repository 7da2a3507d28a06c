// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/base/stop_token.h"
#include "engine/tir/interp_machine.h"

namespace tw::tir::interp {

/// Runs statements as one thread, or as a function without threads does.
class ThreadRunner {
 public:
  /// Runs the loops over blocks and threads from this one on; false after an error.
  using Launch = std::function<bool(const Exec&)>;
  ThreadRunner(Machine& machine, StopToken stop, Launch launch) : m_(machine), stop_(std::move(stop)), launch_(std::move(launch)) {}

  /// False after an error.
  bool run(const Exec& x);

 private:
  bool run_for(const Exec& x);
  bool run_masked(const Exec& x);
  bool run_store(const Exec& x);
  bool run_vector_store(const Exec& x);
  bool run_let(const Exec& x);
  bool run_wait(const Exec& x);
  void put(const Exec& x, ir::EvalArray& array, int64_t position, ir::EvalValue v);
  bool active(int lane) const { return mask_.empty() || mask_[static_cast<size_t>(lane)] != 0; }

  Machine& m_;
  StopToken stop_;
  Launch launch_;
  std::vector<uint8_t> mask_;  ///< lanes that the vector conditions around let through; empty for all
  std::vector<int64_t> positions_;
  std::vector<ir::EvalValue> values_;
  uint64_t stores_ = 0;
};

}  // namespace tw::tir::interp
