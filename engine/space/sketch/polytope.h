// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/rng.h"

/// Points that linear limits allow, all coordinates being 0 at least.
namespace tw::space {

/// sum of coefficient * coordinate <= limit.
struct Halfspace {
  std::vector<std::pair<int, double>> terms;  ///< coordinate, coefficient
  double limit = 0;

  double excess(std::span<const double> x) const;  ///< above 0: how far the point is outside
};

/// Limits with coefficients and bounds of 0 at least; every coordinate is in one of them.
struct Polytope {
  size_t coordinates = 0;
  std::vector<Halfspace> limits;

  /// The most that each coordinate can be: the least of limit / coefficient, as all others may be 0.
  std::vector<double> most() const;
  bool contains(std::span<const double> x, double tolerance) const;
};

/// `count` points, about as likely anywhere: a walk that again and again takes a direction of the whole sphere, each coordinate in units of the most that it can be, and a place between the
/// borders there, several such moves for each point. Source: hit and run (Smith, "Efficient Monte Carlo procedures for generating points uniformly distributed over bounded regions",
/// Operations Research 32(6), 1984). Felix's code begins at the origin, where all but one direction of 2^n leave, and takes those of the positive ones alone.
std::vector<std::vector<double>> sample(const Polytope& p, size_t count, Rng& rng);

}  // namespace tw::space
