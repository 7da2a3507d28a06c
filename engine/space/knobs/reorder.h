// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/config_space.h"

namespace tw::space {

/// Permutations of `num_axes` axes under a policy, in AutoTVM's order (lexicographic where there are several).
std::vector<KnobValue> enumerate_reorder(int num_axes, const ReorderOptions& options);

}  // namespace tw::space
