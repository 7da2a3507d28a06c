// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/space/sketch/smooth_program.h"
#include "engine/target/target.h"

namespace tw::space {

/// ln of what a schedule uses less ln of what there is: kept where it is 0 at most.
struct SmoothLimit {
  std::string name;
  Tape::Id excess;
};
/// What a target sets limits to, as formulas. Of a GPU, for each block: threads, at most and at least, virtual threads, shared memory, sums in a thread's registers and
/// bytes of a vector. Of a processor: lengths of vectors, and of each tiled reduction the innermost tile in registers, and what its inner loops touch in the level-2 cache.
/// Those that are kept by all numbers are left out.
std::vector<SmoothLimit> smooth_limits(const SmoothProgram& program, Tape& tape, const Target& target);

}  // namespace tw::space
