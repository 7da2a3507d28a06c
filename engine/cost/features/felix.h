// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "engine/cost/features/features.h"
#include "engine/space/sketch/smooth_program.h"

namespace tw::cost {

inline constexpr size_t kFelixColumns = 154;

/// A name for each column, for people.
std::string felix_column(size_t column);

/// Felix's row of 154 numbers for each stage that stores, in the stages' order, as formulas: Ansor's without the ten samples of the arithmetic intensity, in natural
/// logarithms ln(x + 1), arrays in the order of their names. A loop counts as one where it runs more than once or is bound; strides and reuse are blends over the
/// loops that may be the one that matters; an array that is never used again has reuse 1.
/// Other than Felix's: what several reads of one array touch is joined dimension by dimension, arrays that are not there are zeros, loops are counted from 0 to
/// their end everywhere, and divisions that leave a rest are at least 1.
/// Source: Zhao et al., "Felix: optimizing tensor programs with gradient descent", ASPLOS 2024, section 4, in the numbers of its release.
std::vector<std::array<space::Tape::Id, kFelixColumns>> felix_formulas(const space::SmoothProgram& program, space::Tape& tape);

/// What the smooth formulas say at the candidate's numbers.
Expected<FeatureRows> felix_features(const FeatureInput& input);

}  // namespace tw::cost
