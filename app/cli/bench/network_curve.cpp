// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/network_curve.h"

#include <algorithm>
#include <cmath>

namespace tw::cli::bench {

double TuningClock::seconds(std::span<const records::Round> rounds, size_t count) const {
  if (count == 0) return 0;
  const records::Round& last = rounds[count - 1];
  if (trial_s <= 0) return last.elapsed_s;
  double search_s = 0;
  for (const records::Round& r : rounds.first(count)) search_s += r.search_s;
  return search_s + trial_s * static_cast<double>(last.session_trials);
}

std::optional<NetworkCurve::Point> NetworkCurve::reaching(double network_s) const {
  const auto at = std::find_if(points.begin(), points.end(), [&](const Point& p) { return p.network_s <= network_s; });
  return at == points.end() ? std::nullopt : std::optional(*at);
}

StepCurve NetworkCurve::steps(Over axis) const {
  StepCurve out;
  for (const Point& p : points) out.push_back({axis == Over::trials ? static_cast<double>(p.trials) : p.seconds, p.network_s});
  return out;
}

NetworkCurve network_curve(std::span<const records::Round> rounds, const TuningClock& clock) {
  NetworkCurve out;
  for (size_t i = 0; i < rounds.size(); ++i) {
    out.search_s += rounds[i].search_s;
    out.wall_s = rounds[i].elapsed_s;
    if (std::isfinite(rounds[i].network_s)) out.points.push_back({rounds[i].session_trials, clock.seconds(rounds, i + 1), rounds[i].network_s});
  }
  return out;
}

}  // namespace tw::cli::bench
