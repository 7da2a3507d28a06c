// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/color_scale.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tw::widgets {

QColor viridis(double t) {
  static constexpr int kStops[][3] = {{68, 1, 84},    {71, 44, 122}, {59, 81, 139},  {44, 113, 142}, {33, 144, 141},
                                      {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}};
  const double at = std::clamp(std::isfinite(t) ? t : 0.0, 0.0, 1.0) * static_cast<double>(std::size(kStops) - 1);
  const auto low = std::min(static_cast<size_t>(at), std::size(kStops) - 2);
  const double f = at - static_cast<double>(low);
  const auto mix = [&](int c) { return static_cast<int>(std::lround(kStops[low][c] * (1 - f) + kStops[low + 1][c] * f)); };
  return QColor(mix(0), mix(1), mix(2));
}

}  // namespace tw::widgets
