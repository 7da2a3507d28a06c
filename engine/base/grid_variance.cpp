// SPDX-License-Identifier: Apache-2.0
#include "engine/base/grid_variance.h"

#include <algorithm>

#include "engine/base/assert.h"

namespace tw {

GridVariance grid_variance(std::span<const size_t> sizes, std::span<const double> values, bool with_pairs) {
  size_t points = 1;
  for (const size_t s : sizes) points *= s;
  TW_ASSERT(points == values.size() && points > 0, "a value for each point of the grid");
  const double count = static_cast<double>(points);
  GridVariance g;
  for (const double v : values) g.mean += v / count;
  for (const double v : values) g.variance += (v - g.mean) * (v - g.mean) / count;
  std::vector<size_t> strides(sizes.size(), 1);
  for (size_t i = 1; i < sizes.size(); ++i) strides[i] = strides[i - 1] * sizes[i - 1];
  const auto place = [&](size_t point, size_t i) { return point / strides[i] % sizes[i]; };
  const auto share = [&](double part) { return g.variance > 0 ? std::clamp(part / g.variance, 0.0, 1.0) : 0.0; };
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<double>& means = g.means.emplace_back(sizes[i], 0.0);
    const double weight = static_cast<double>(sizes[i]);
    for (size_t p = 0; p < points; ++p) means[place(p, i)] += values[p] * weight / count;
    double part = 0;
    for (const double m : means) part += (m - g.mean) * (m - g.mean) / weight;
    g.single.push_back(share(part));
  }
  for (size_t a = 0; with_pairs && a < sizes.size(); ++a)
    for (size_t b = a + 1; b < sizes.size(); ++b) {
      const size_t cells = sizes[a] * sizes[b];
      std::vector<double> means(cells, 0.0);
      for (size_t p = 0; p < points; ++p) means[place(p, a) + sizes[a] * place(p, b)] += values[p] * static_cast<double>(cells) / count;
      double part = 0;
      for (size_t c = 0; c < cells; ++c) {
        const double beyond = means[c] - g.means[a][c % sizes[a]] - g.means[b][c / sizes[a]] + g.mean;
        part += beyond * beyond / static_cast<double>(cells);
      }
      g.pairs.push_back({a, b, share(part)});
    }
  return g;
}

}  // namespace tw
