// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/rng.h"

/// Lengths of the pieces that a loop is split in.
namespace tw::space {

/// `count` lengths, outer to inner, whose product divides `extent` and whose last is at most `max_innermost`: one of all such lists, each as likely as any other.
std::vector<int64_t> random_lengths(int64_t extent, size_t count, int64_t max_innermost, Rng& rng);
/// The same for an extent that is rounded up first, to a power of two of at most 64, so that loops of odd extents have whole vectors and warps; at most a quarter
/// of the iterations then is surplus.
std::vector<int64_t> random_uneven_lengths(int64_t extent, size_t count, int64_t max_innermost, Rng& rng);

}  // namespace tw::space
