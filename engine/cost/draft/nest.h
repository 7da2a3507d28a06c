// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <type_traits>

#include "engine/cost/features/statements.h"
#include "engine/schedule/loops.h"

namespace tw::cost {

/// What all statements of one kernel share: loops that are bound to one coordinate become one loop over the largest of their extents.
struct Nest {
  int root = -1;  ///< the stage that is computed by itself
  bool bound = false;
  double grid = 1, block = 1;
  double shared_bytes = 0;  ///< of its blocks
};
Nest nest_of(int stage, const space::Program& program, const space::Evaluated& e);

/// What `f` says of the statement of each stage that stores, in the stages' order; those that sums begin with are left out, as the sums write the same array.
template <class F>
auto by_stage(const space::Program& program, const space::Evaluated& e, F f) {
  std::map<int, std::invoke_result_t<F, const Statement&>> found;
  for (const Statement& s : statements_of(program, e))
    if (!s.init) found[s.stage] = f(s);
  std::vector<std::invoke_result_t<F, const Statement&>> out;
  for (const auto& [stage, value] : found) out.push_back(value);
  return out;
}

/// Whether a step of the loop moves any access.
inline bool moves(const ArrayAccess& a, int loop) {
  for (const auto& indices : a.indices)
    for (const space::DigitSum& index : indices)
      for (const space::DigitSum::Term& t : index.terms)
        if (t.digit.loop == loop) return true;
  return false;
}

/// Elements that a step of the loop moves it, at most; 0: it does not move it, or not with every step.
double step_of(const ArrayAccess& a, const space::Program& program, int loop);

/// Elements that the loops touch of it together, those left out standing still; of several accesses what spans them.
double footprint(const ArrayAccess& a, const space::Program& program, const space::Evaluated& e, const std::vector<Around>& loops);

}  // namespace tw::cost
