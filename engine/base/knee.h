// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace tw {

/// Where a rising curve of diminishing returns bends: the place in `x` of its knee. Curve and axis are brought into a unit square; the knee is the first point whose height above the
/// diagonal is a local maximum that then falls by `sensitivity` mean steps of x or more. Only the part up to the first greatest value counts: what comes after it is no gain at all.
/// Nothing if that part has fewer than three points, or no point stands out, as of a straight line.
/// x ascends; both have the same length.
/// Source: Satopaa, Albrecht, Irwin, Raghavan, "Finding a 'kneedle' in a haystack: detecting knee points in system behavior", ICDCS Workshops 2011, for whole curves, without its smoothing.
std::optional<size_t> knee(std::span<const double> x, std::span<const double> y, double sensitivity = 1);

}  // namespace tw
