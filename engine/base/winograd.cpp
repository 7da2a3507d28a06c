// SPDX-License-Identifier: Apache-2.0
#include "engine/base/winograd.h"

#include "engine/base/assert.h"

namespace tw {

namespace {

constexpr double kPoints[] = {0, 1, -1, 2, -2, 0.5, -0.5};

/// Coefficients of the product of (x - point) over the first `count` points without number `left_out`, lowest power first.
std::vector<double> roots_to_coefficients(size_t count, size_t left_out) {
  std::vector<double> c{1};
  for (size_t j = 0; j < count; ++j) {
    if (j == left_out) continue;
    c.insert(c.begin(), 0);
    for (size_t k = 0; k + 1 < c.size(); ++k) c[k] -= kPoints[j] * c[k + 1];
  }
  return c;
}

std::vector<double> powers(double x, size_t n) {
  std::vector<double> p(n, 1);
  for (size_t k = 1; k < n; ++k) p[k] = p[k - 1] * x;
  return p;
}

}  // namespace

bool winograd_exists(int64_t m, int64_t r) { return m >= 2 && r >= 2 && m <= 8 && r <= 8 && m + r - 2 <= static_cast<int64_t>(std::size(kPoints)); }

Winograd winograd(int64_t m, int64_t r) {
  TW_ASSERT(winograd_exists(m, r), "no points for this size");
  const auto outputs = static_cast<size_t>(m), taps = static_cast<size_t>(r), n = outputs + taps - 1, finite = n - 1;
  Winograd w{Winograd::Matrix(outputs, std::vector<double>(n, 0)), {}, {}};
  for (size_t i = 0; i < finite; ++i) {
    const std::vector<double> p = powers(kPoints[i], outputs);
    for (size_t y = 0; y < outputs; ++y) w.at[y][i] = p[y];
    double scale = 1;
    for (size_t j = 0; j < finite; ++j)
      if (j != i) scale *= kPoints[i] - kPoints[j];
    w.g.push_back(powers(kPoints[i], taps));
    for (double& v : w.g.back()) v /= scale;
    w.bt.push_back(roots_to_coefficients(finite, i));
    w.bt.back().resize(n, 0);
  }
  w.at[outputs - 1][finite] = 1;
  w.g.emplace_back(taps, 0);
  w.g.back().back() = 1;
  w.bt.push_back(roots_to_coefficients(finite, finite));
  return w;
}

}  // namespace tw
