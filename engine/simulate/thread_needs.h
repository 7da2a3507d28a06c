// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

namespace tw::simulate {

/// What the program of a thread needs at the same time, at most.
struct ThreadNeeds {
  int64_t local_bytes = 0;        ///< of local arrays that are alive together
  int64_t local_registers = 0;    ///< the same in registers of 4 bytes, each array by itself
  int64_t largest_registers = 0;  ///< of one local array
  int64_t virtual_threads = 1;    ///< along one path of loops
};
ThreadNeeds thread_needs(const tir::Stmt& program);

}  // namespace tw::simulate
