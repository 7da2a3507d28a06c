// SPDX-License-Identifier: Apache-2.0
#include "engine/base/knee.h"

#include <algorithm>
#include <vector>

namespace tw {

std::optional<size_t> knee(std::span<const double> x, std::span<const double> y, double sensitivity) {
  if (x.empty()) return std::nullopt;
  const size_t last = static_cast<size_t>(std::max_element(y.begin(), y.end()) - y.begin());
  if (last < 2 || !(x[last] > x[0])) return std::nullopt;
  const double lowest = *std::min_element(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(last));
  std::vector<double> above(last + 1);
  for (size_t i = 0; i <= last; ++i) above[i] = (y[i] - lowest) / (y[last] - lowest) - (x[i] - x[0]) / (x[last] - x[0]);
  const double step = sensitivity / static_cast<double>(last);
  for (size_t i = 1; i < last; ++i) {
    if (above[i] < above[i - 1] || above[i] <= above[i + 1]) continue;
    for (size_t j = i + 1; j <= last && above[j] <= above[i]; ++j)
      if (above[j] <= above[i] - step) return i;
  }
  return std::nullopt;
}

}  // namespace tw
