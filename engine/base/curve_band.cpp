// SPDX-License-Identifier: Apache-2.0
#include "engine/base/curve_band.h"

#include <algorithm>

namespace tw {

double quantile_of(std::span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const double above = sorted[std::min(below + 1, sorted.size() - 1)];
  return sorted[below] + (place - static_cast<double>(below)) * (above - sorted[below]);
}

QuartileBand band_of(std::span<const StepCurve> curves, int steps) {
  if (curves.empty()) return {};
  double from = 0, to = 0;
  for (const StepCurve& curve : curves) {
    if (curve.empty()) return {};
    from = std::max(from, curve.front().x), to = std::max(to, curve.back().x);
  }
  QuartileBand band;
  std::vector<size_t> at(curves.size(), 0);
  std::vector<double> values(curves.size());
  for (int s = 0; s <= steps; ++s) {
    const double here = from + (to - from) * s / steps;
    for (size_t c = 0; c < curves.size(); ++c) {
      while (at[c] + 1 < curves[c].size() && curves[c][at[c] + 1].x <= here) ++at[c];
      values[c] = curves[c][at[c]].y;
    }
    std::sort(values.begin(), values.end());
    band.x.push_back(here), band.low.push_back(quantile_of(values, 0.25)), band.middle.push_back(quantile_of(values, 0.5)), band.high.push_back(quantile_of(values, 0.75));
  }
  return band;
}

}  // namespace tw
