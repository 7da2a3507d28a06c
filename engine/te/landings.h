// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engine/te/dag.h"

namespace tw::te {

/// A reduction of which every term counts at one place of the result, which the term says, as scattered updates do: `sum over r of (e(r) == o ? x(r) : 0)`. It
/// may be worked out by going through the terms once, with no search for those of a place.
struct Landings {
  std::vector<size_t> places;  ///< axes that terms are compared with, in order
  bool same_for_last;          ///< what they are compared with is the same along the last axis, which is none of those
};
/// Nothing for other ops.
std::optional<Landings> landings_of(const Op& op);

}  // namespace tw::te
