// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/base/rng.h"

namespace tw {

/// Draws `count` numbers into `out`, each what `static_cast<float>(mean + deviation * rng.normal())` would be, to the last bit, and leaves `rng` as that would.
/// Cost: a few nanoseconds a number, a fifth of one call after the other: logarithms and cosines of several numbers at once, by series that are exact to some
/// 1e-15; the rare number whose float they do not decide is computed as Rng::normal() does.
void fill_normal(Rng& rng, double mean, double deviation, float* out, int64_t count);

}  // namespace tw
