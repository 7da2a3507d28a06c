// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/features/features.h"
#include "engine/learner/networks.h"

namespace tw::cost {

inline constexpr size_t kPamColumns = learner::kRowColumns;

/// What TenSet's and Pruner's networks see. A row for each stage that stores: 0, TenSet's 164 numbers, ten flags of the task, zeros. Where the program has a tiled product,
/// eight rows more, one for each array that its four statements touch: 1, zeros, 23 numbers.
/// The flags: greatest, least, sum of two floats; convolution, Winograd's, depthwise; dense, softmax, product of batches of matrices; the tenth is 0, as in TenSet's
/// own, which finds them in the text of the computation.
/// A tiled product: a sum in registers begins, two arrays of global memory are copied to shared memory, and their products are summed up; the first one of the program.
/// An array's 23 numbers: operations on floats; where it lies (global, shared, local); TenSet's 18 of an array; bytes that are kept. Arrays of a statement stand from
/// its last read to its first, then what it stores to. The release counts operations once too often, and its order rests on a hash table.
/// Sources: Zheng et al., "TenSet" (NeurIPS 2021); Qiao et al., "Pruner" (arXiv 2402.02361).
Expected<FeatureRows> pam_features(const FeatureInput& input);
FeatureRows pam_program(const space::Program& program, const space::Evaluated& e, const Target& target);

}  // namespace tw::cost
