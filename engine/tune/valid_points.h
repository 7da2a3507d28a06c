// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "engine/base/rng.h"
#include "engine/space/config_space.h"

namespace tw::tune {

/// Whether no filter over several knobs rejects the point.
bool is_valid_point(const space::ConfigSpace& space, int64_t index);

/// How many points a search may find: those that no filter rejects if the space has at most 20,000 points, else all (an upper bound).
/// Cost: at most some 50 ms.
int64_t usable_points(const space::ConfigSpace& space);

/// The first `n` valid points that are not in `taken`, of those that `next` deals until it has none left; fewer if too many in a row are rejected.
std::vector<int64_t> fresh_points(const space::ConfigSpace& space, int n, const std::unordered_set<int64_t>& taken,
                                  const std::function<std::optional<int64_t>()>& next);

/// A random valid point that is not in `taken`, or -1 if there seems to be none. In a nearly exhausted space it looks on from a random place.
int64_t fresh_random_point(const space::ConfigSpace& space, const std::unordered_set<int64_t>& taken, Rng& rng);

}  // namespace tw::tune
