// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

namespace tw::simulate {

/// What a compiler makes of the program of a thread, as far as it can be told without one: found on the way of one warp.
struct MachineCode {
  double instructions = 0;
  double operands = 0;   ///< registers of values that are read from shared memory
  double staged = 0;     ///< the same from the GPU's memory
  double fragments = 0;  ///< the same of products by a warp

  int64_t bytes() const;
  /// Of a thread.
  int registers(const tir::Stmt& program) const;
};

}  // namespace tw::simulate
