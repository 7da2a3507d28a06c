// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/space/sketch/program.h"

/// A schedule's program as the statements that it runs.
namespace tw::cost {

/// Operations of one run of a statement, indices apart.
struct Operations {
  enum Place : uint8_t { kFused, kAdd, kMul, kDiv, kCompare, kFunction, kOther };
  std::array<double, 7> floats{}, ints{};
  double truths = 0, choices = 0;
};

/// One loop around a statement; where its init has copies of a stage's loops, they are others.
struct Around {
  int loop;
  bool of_init = false;
  friend auto operator<=>(const Around&, const Around&) = default;
};

/// What a stage stores: each element, or before the loops of its reduction the value that sums begin with.
struct Statement {
  int stage;
  bool init = false;
  std::vector<Around> loops;    ///< outermost first; those that run once are left out
  double runs = 1, placed = 1;  ///< of its loops; of those that its array is kept for

  /// Its operations, with that of its reduction. None of an init.
  Operations operations(const space::Program& program) const;
};
/// In the order in which they run.
std::vector<Statement> statements_of(const space::Program& program, const space::Evaluated& e);

/// What a statement reads and writes of an array, over the loops of the program.
struct ArrayAccess {
  int array = -1;  ///< the stage that makes it
  bool read = false, written = false;
  std::vector<std::vector<space::DigitSum>> indices;  ///< of each access
};
/// Of each array once, what it stores to first.
std::vector<ArrayAccess> accesses_of(const Statement& s, const space::Program& program, const space::Evaluated& e);

/// How far neighbours along each dimension of an array lie apart in memory, in elements; of a dimension in pieces, within the innermost.
std::vector<double> neighbour_distances(const space::Program& program, int array);

}  // namespace tw::cost
