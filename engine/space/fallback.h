// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/space/config_space.h"

/// Points chosen without measuring, as AutoTVM's fallback configurations choose them.
namespace tw::space {

/// Factors of `extent`, outer to inner: from the last one to the first, the largest divisor of what is left that is at most its limit; -1 is no limit.
/// Example: 128 under {-1, 8, 4} is {4, 8, 4}. Limits are -1 or 1 and more.
std::vector<int64_t> fallback_split(int64_t extent, const std::vector<int64_t>& limits);

/// The point of `space` nearest to the best fitting of `references` (AutoTVM "entity" lists of other shapes): of each split, the share of the axis' divisors
/// that also divide the reference's factors' product is summed up, and the reference with the largest sum, the first of equals, lends its inner factors as
/// limits and the values of its other knobs. Index -1 if no reference fits, or if what it lends is no valid point of the space. Where a reference leaves its
/// first factor open (-1), the product of the others counts; AutoTVM's own reader stops there.
ConfigEntity nearest_point(const ConfigSpace& space, std::span<const Json> references);

/// The point with these knob values, each as in an AutoTVM "entity" list. It must be a point of the space.
ConfigEntity point_with(const ConfigSpace& space, const std::vector<std::pair<std::string, Json>>& values);

}  // namespace tw::space
