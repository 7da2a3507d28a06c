// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/base/expected.h"
#include "engine/tir/stmt.h"

namespace tw::simulate {

/// One launch of a lowered function: its coordinates, its shared arrays and what one thread does.
struct Launch {
  struct Coordinate {
    const ir::VarNode* var = nullptr;  ///< null where no loop is bound to it
    int64_t extent = 1;
  };
  Coordinate at[6];          ///< block x, y, z, thread x, y, z
  int64_t shared_bytes = 0;  ///< each array on a boundary of 16 bytes
  tir::Stmt program;

  int64_t grid(int d) const { return at[d].extent; }
  int64_t block(int d) const { return at[3 + d].extent; }
  int64_t threads() const { return block(0) * block(1) * block(2); }
};

/// The launches in order: statements at the top of the function that hold loops bound to blocks or threads.
/// Errors: unsupported for work outside of launches or extents that are no constants.
Expected<std::vector<Launch>> launches_of(const tir::Func& f);

}  // namespace tw::simulate
