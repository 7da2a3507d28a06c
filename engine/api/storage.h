// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/tir/stmt.h"

namespace tw::api {

/// One array of an executable.
struct SlotUse {
  bool placed = false;  ///< lies in the arena
  int64_t bytes = 0;
  int base = -1;       ///< the array whose storage it is part of
  int64_t offset = 0;  ///< bytes into `base`
};

/// One kernel call: its arrays, in the order of the function's parameters.
struct CallUse {
  std::vector<int> slots;
  const tir::Func* func = nullptr;
};

struct StoragePlacement {
  std::vector<int64_t> offsets;  ///< per array, bytes into the arena; -1 where the arena does not hold it
  int64_t arena_bytes = 0;
  int64_t live_bytes = 0;       ///< the most that is alive at one call, with what shares storage counted once
  int64_t unplanned_bytes = 0;  ///< of all arrays side by side
};

/// Places the arrays of a sequence of calls. Arrays with a base are parts of it and live as long as any other part. A result takes the place of an operand of
/// the same call that nothing reads later, where the code allows that (tir::may_share_storage).
StoragePlacement place_storage(std::span<const SlotUse> slots, std::span<const CallUse> calls);

}  // namespace tw::api
