// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/features/features.h"

namespace tw::cost {

/// Split factors (the first as stored, -1), positions of a permutation, one of eleven for each annotation, and the raw value of other knobs
/// (the place among its candidates where that is no number).
Expected<FeatureRows> knob_features(const FeatureInput& input);

/// Appends the values of the knobs that are neither splits, orders nor annotations: what the loops may not show. Nothing for a candidate without knobs.
void append_other_knobs(const FeatureInput& input, std::vector<float>& out);

}  // namespace tw::cost
