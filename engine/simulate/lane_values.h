// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <unordered_map>

#include "engine/ir/expr.h"
#include "engine/target/gpu.h"

namespace tw::simulate {

/// A number for each thread of a warp.
using Lanes = std::array<int64_t, target::kWarp>;

/// Values of integer expressions in the threads of a warp.
struct LaneValues {
  std::unordered_map<const ir::VarNode*, Lanes> vars;  ///< those without a value are 0

  /// What is read from arrays is not known: numbers below 1024 that are the same for the same place. Conditions on floats hold.
  Lanes of(const ir::Expr& e) const;
};

}  // namespace tw::simulate
