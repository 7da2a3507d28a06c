// SPDX-License-Identifier: Apache-2.0
#include "engine/base/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/assert.h"
#include "engine/base/paired_ratio.h"
#include "engine/base/rng.h"

namespace tw {
namespace {

constexpr size_t kExact = 20;
constexpr int kDrawnSigns = 100000;
constexpr double kPower = 0.8;  ///< chance to find a difference that is there

double count_larger(std::span<const double> a, std::span<const double> b) {
  double u = 0;
  for (const double x : a)
    for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  return u;
}

/// Over all values: sum of t^3 - t for each group of t equal ones.
double tie_term(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end());
  double sum = 0;
  for (size_t i = 0; i < all.size();) {
    size_t j = i;
    while (j < all.size() && all[j] == all[i]) ++j;
    const auto t = static_cast<double>(j - i);
    sum += t * t * t - t;
    i = j;
  }
  return sum;
}

/// ways[u]: arrangements of n and m values with this U. Adding the n-th value of the first sample puts it above 0 to m values of the second.
std::vector<double> arrangements(size_t n, size_t m) {
  std::vector<std::vector<double>> by_m(m + 1, std::vector<double>(n * m + 1, 0));
  for (auto& ways : by_m) ways[0] = 1;  // n = 0
  for (size_t k = 1; k <= n; ++k) {
    std::vector<std::vector<double>> next(m + 1, std::vector<double>(n * m + 1, 0));
    next[0][0] = 1;
    for (size_t j = 1; j <= m; ++j)
      for (size_t u = 0; u <= k * j; ++u) next[j][u] = next[j - 1][u] + (u >= j ? by_m[j][u - j] : 0);
    by_m = std::move(next);
  }
  return by_m[m];
}

/// How many sums of the signed-rank statistic of n differences, from 0 on, have together the probability `tail` at most: each rank counts or does not.
size_t rare_sums(size_t n, double tail) {
  std::vector<double> ways{1};
  for (size_t rank = 1; rank <= n; ++rank) {
    std::vector<double> more(ways.size() + rank, 0);
    for (size_t sum = 0; sum < ways.size(); ++sum) {
      more[sum] += ways[sum];
      more[sum + rank] += ways[sum];
    }
    ways = std::move(more);
  }
  const double most = tail * std::exp2(static_cast<double>(n));
  size_t rare = 0;
  for (double seen = ways[0]; rare < ways.size() && seen <= most; ++rare) seen += rare + 1 < ways.size() ? ways[rare + 1] : 0;
  return rare;
}

/// The value that a standard normal variable exceeds with the probability `tail`.
double normal_above(double tail) {
  double low = -10, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

SignedRanks signed_ranks(std::span<const double> differences, double tail) {
  const size_t rare = rare_sums(differences.size(), tail);
  TW_ASSERT(rare > 0, "differences for an interval");
  std::vector<double> means;
  for (size_t i = 0; i < differences.size(); ++i)
    for (size_t j = 0; j <= i; ++j) means.push_back((differences[i] + differences[j]) / 2);
  std::sort(means.begin(), means.end());
  return {median_of(means), means[rare - 1], means[means.size() - rare]};
}

int rank_differences(double tail) { return static_cast<int>(std::ceil(-std::log2(tail))); }

MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b) {
  MannWhitney result;
  if (a.empty() || b.empty()) return result;
  result.u = count_larger(a, b);
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), ties = tie_term(a, b);
  if (ties == 0 && a.size() <= kExact && b.size() <= kExact) {
    result.exact = true;
    const std::vector<double> ways = arrangements(a.size(), b.size());
    const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
    const auto low = static_cast<size_t>(std::min(result.u, n * m - result.u));
    result.p = std::min(1.0, 2 * std::accumulate(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(low) + 1, 0.0) / all);
    return result;
  }
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return result;  // all values are equal
  const double z = std::max(0.0, std::abs(result.u - n * m / 2) - 0.5) / std::sqrt(variance);
  result.p = std::erfc(z / std::sqrt(2.0));
  return result;
}

double vargha_delaney(std::span<const double> a, std::span<const double> b) {
  return a.empty() || b.empty() ? 0.5 : count_larger(a, b) / (static_cast<double>(a.size()) * static_cast<double>(b.size()));
}

double paired_permutation(std::span<const double> differences) {
  if (differences.empty()) return 1;
  double seen = 0, all = 0;
  for (const double d : differences) seen += d, all += std::abs(d);
  // Sums that differ by rounding alone are equal.
  const double least = std::abs(seen) - 1e-12 * all;
  int64_t as_far = 0, tried = 0;
  if (differences.size() <= kExact) {
    tried = int64_t{1} << differences.size();
    for (int64_t signs = 0; signs < tried; ++signs) {
      double sum = 0;
      for (size_t i = 0; i < differences.size(); ++i) sum += (signs >> i & 1) != 0 ? -differences[i] : differences[i];
      as_far += std::abs(sum) >= least;
    }
    return static_cast<double>(as_far) / static_cast<double>(tried);
  }
  Rng rng(1);
  for (; tried < kDrawnSigns; ++tried) {
    double sum = 0;
    for (const double d : differences) sum += (rng.next() & 1) != 0 ? -d : d;
    as_far += std::abs(sum) >= least;
  }
  return static_cast<double>(as_far + 1) / static_cast<double>(tried + 1);  // the signs that were seen are among those that could be
}

std::optional<int> samples_to_settle(double a12, double level, int most) {
  const double apart = a12 - 0.5, z = normal_above(level / 2) + normal_above(1 - kPower);
  const double each = z * z / (6 * apart * apart);  // half of the total for samples of one size
  if (!(each <= most)) return std::nullopt;
  return static_cast<int>(std::ceil(each));
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return p_values[x] < p_values[y]; });
  std::vector<double> adjusted(p_values.size());
  double most = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    most = std::max(most, std::min(1.0, p_values[order[rank]] * static_cast<double>(order.size() - rank)));
    adjusted[order[rank]] = most;
  }
  return adjusted;
}

}  // namespace tw
