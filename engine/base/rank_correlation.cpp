// SPDX-License-Identifier: Apache-2.0
#include "engine/base/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/base/assert.h"

namespace tw {
namespace {

/// From 1; of equal values the mean.
std::vector<double> mean_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + end + 1) / 2;
    i = end;
  }
  return ranks;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  TW_ASSERT(a.size() == b.size(), "two numbers for each thing");
  const std::vector<double> x = mean_ranks(a), y = mean_ranks(b);
  const double mean = static_cast<double>(x.size() + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

double kendall(std::span<const double> a, std::span<const double> b) {
  TW_ASSERT(a.size() == b.size(), "two numbers for each thing");
  int64_t same = 0, tied_a = 0, tied_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int x = (a[i] > a[j]) - (a[i] < a[j]), y = (b[i] > b[j]) - (b[i] < b[j]);
      same += x * y;
      tied_a += x == 0;
      tied_b += y == 0;
    }
  }
  const auto pairs = static_cast<double>(a.size()) * (static_cast<double>(a.size()) - 1) / 2;
  const double all = std::sqrt((pairs - static_cast<double>(tied_a)) * (pairs - static_cast<double>(tied_b)));
  return all > 0 ? static_cast<double>(same) / all : 0;
}

}  // namespace tw
