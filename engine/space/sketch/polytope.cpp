// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/polytope.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/assert.h"

namespace tw::space {

double Halfspace::excess(std::span<const double> x) const {
  double sum = -limit;
  for (const auto& [at, coefficient] : terms) sum += coefficient * x[static_cast<size_t>(at)];
  return sum;
}

std::vector<double> Polytope::most() const {
  std::vector<double> out(coordinates, std::numeric_limits<double>::infinity());
  for (const Halfspace& h : limits)
    for (const auto& [at, coefficient] : h.terms) {
      TW_ASSERT(coefficient >= 0 && h.limit >= 0, "limits that the origin meets");
      if (coefficient > 0) out[static_cast<size_t>(at)] = std::min(out[static_cast<size_t>(at)], h.limit / coefficient);
    }
  for (const double m : out) TW_ASSERT(std::isfinite(m), "a limit for every coordinate");
  return out;
}

bool Polytope::contains(std::span<const double> x, double tolerance) const {
  return std::all_of(x.begin(), x.end(), [&](double v) { return v >= -tolerance; }) &&
         std::all_of(limits.begin(), limits.end(), [&](const Halfspace& h) { return h.excess(x) <= tolerance; });
}

std::vector<std::vector<double>> sample(const Polytope& p, size_t count, Rng& rng) {
  constexpr double kInside = 0.5;  // of the way from the origin to the nearest limit
  const std::vector<double> most = p.most();
  // Coordinates in units of the most that they can be; those that can only be 0 stay there.
  std::vector<size_t> free;
  for (size_t k = 0; k < most.size(); ++k)
    if (most[k] > 0) free.push_back(k);
  std::vector<double> x(p.coordinates, 0), direction(p.coordinates, 0);
  double share = 1;
  for (const Halfspace& h : p.limits) {
    double sum = 0;
    for (const auto& [at, coefficient] : h.terms) sum += coefficient * most[static_cast<size_t>(at)];
    if (sum > 0) share = std::min(share, h.limit / sum);
  }
  for (const size_t k : free) x[k] = kInside * share * most[k];
  const auto move = [&] {
    for (const size_t k : free) direction[k] = rng.normal() * most[k];
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    const auto border = [&](double room, double speed) {  // room left, and how fast it gets less
      if (speed > 0) high = std::min(high, room / speed);
      if (speed < 0) low = std::max(low, room / speed);
    };
    for (const size_t k : free) border(x[k], -direction[k]);
    for (const Halfspace& h : p.limits) {
      double speed = 0;
      for (const auto& [at, coefficient] : h.terms) speed += coefficient * direction[static_cast<size_t>(at)];
      border(std::max(0.0, -h.excess(x)), speed);
    }
    if (!(low <= high) || !std::isfinite(low) || !std::isfinite(high)) return;
    const double step = low + (high - low) * rng.uniform_real();
    for (const size_t k : free) x[k] = std::max(0.0, x[k] + step * direction[k]);
  };
  const size_t moves = 4 + 2 * free.size();
  std::vector<std::vector<double>> out;
  for (size_t i = 0; !free.empty() && i < 4 * moves; ++i) move();
  while (out.size() < count) {
    for (size_t i = 0; !free.empty() && i < moves; ++i) move();
    out.push_back(x);
  }
  return out;
}

}  // namespace tw::space
