// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/features/features.h"
#include "engine/cost/features/loop_touches.h"

namespace tw::cost {

/// For every loop in order of first appearance: length, depth, iterations from outside, work below, one of eleven for its kind, its additions, multiplications
/// and divisions, then stride, count and reuse of each access below it in the order of their names; at the end the other knobs' values. Lengths, counts and
/// strides as sign(x) log2(|x| + 1).
/// Differs from AutoTVM: strides come from the affine form of the index, not from its spelling; the constant "mod" and the numbers that only GPU threads have
/// are left out.
Expected<FeatureRows> itervar_features(const FeatureInput& input);

/// The part that the loops give.
std::vector<float> itervar_vector(const std::vector<LoopTouches>& loops);

/// The candidate's loops before passes. Errors: why the template refuses the point or it cannot be lowered.
Expected<tir::Func> lowered_candidate(const FeatureInput& input);

}  // namespace tw::cost
