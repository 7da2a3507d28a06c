// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/features/features.h"
#include "engine/cost/features/loop_touches.h"

namespace tw::cost {

/// For every array (its last access at the greatest depth), from the loops around it: the sorted curves of log2 of reuse, count and outer iterations, related
/// to each other (count to reuse, reuse to count, count to iterations, iterations to count) and sampled at 0 to 19; 160 numbers an array, arrays in the order
/// of their names; at the end the other knobs' values.
Expected<FeatureRows> curve_features(const FeatureInput& input);

/// The part that the loops give.
std::vector<float> curve_vector(const std::vector<LoopTouches>& loops);

}  // namespace tw::cost
