// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/features/features.h"
#include "engine/cost/features/loop_touches.h"

namespace tw::cost {

inline constexpr size_t kStoreArrays = 4;       ///< that a row describes; of more the smaller ones are left out
inline constexpr size_t kStoreFootprints = 4;  ///< loops from the inside whose footprints a row tells
inline constexpr size_t kStoreLoopColumns = 8 + kLoopKinds, kStoreArrayColumns = 4 + kStoreFootprints;
inline constexpr size_t kStoreColumns = kStoreLoopColumns + kStoreArrays * kStoreArrayColumns;

/// A row for each statement that stores. First: how often it runs, its additions, multiplications, divisions and other operations in all those runs, the number
/// of loops around it, the length of the innermost, whether it adds to what it stores, and the product of the lengths of the loops of each of eleven kinds.
/// Then four arrays, the one that is written first, the others by their bytes: whether it is written, its bytes, how often each element is used, its stride in the
/// innermost loop, and the bytes that one run of the innermost, second, third and fourth loop from the inside touches. Numbers but flags as
/// sign(x) log2(|x| + 1).
Expected<FeatureRows> stores_features(const FeatureInput& input);

/// The same of loops that are known.
FeatureRows stores_rows(const Touches& touches);

}  // namespace tw::cost
