// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/config_space.h"

namespace tw::space {

/// Annotations of `num_axes` axes under a policy, in AutoTVM's order: axis 0 varies slowest, words in the order of the policy.
std::vector<KnobValue> enumerate_annotate(int num_axes, const AnnotateOptions& options);

}  // namespace tw::space
