// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/base/host_array.h"
#include "engine/te/dag.h"

namespace tw::measure {

/// What random values a placeholder gets: floats uniform in [lo, hi), integers in [lo, hi] (both in the type's range), booleans 0 or 1.
struct InputRange {
  double lo = -1, hi = 1;
};

/// How large floats are. Uneven ones are 256 times larger in the first, third, ... placeholder and 8 times smaller in the others (8 and 1.4 for 16-bit floats):
/// a softmax that does not subtract its maximum overflows, and what adds a small operand to a large one in too short a type shows it.
enum class Magnitudes : uint8_t { even, uneven };

/// Ranges that keep the computation legal, in placeholder order. Floats: [-1, 1), or as `magnitudes` has it. Integers: [-4, 3], or what fits the type; where
/// loaded integers index an array or divide in this dag, every integer input stays within the smallest extent so indexed, and above zero if it divides.
std::vector<InputRange> input_ranges(const te::Dag& dag, Magnitudes magnitudes = Magnitudes::even);

/// Fills `n` elements in row-major order. Element i depends on type, range, seed and i only: program and worker make the same array apart from each other.
void fill_random(DType dtype, int64_t n, const InputRange& range, uint64_t seed, std::byte* out);
/// Seed of placeholder `i`.
uint64_t input_seed(uint64_t seed, int i);

/// All placeholders of a dag.
std::vector<HostArray> make_inputs(const te::Dag& dag, uint64_t seed, Magnitudes magnitudes = Magnitudes::even);

}  // namespace tw::measure
