// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/base/assert.h"

namespace tw::cost {
namespace {

/// Positions, the highest value first.
template <class T>
std::vector<size_t> descending(std::span<const T> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  return order;
}

double squared_error(std::span<const double> truth, std::span<const float> predicted) {
  TW_ASSERT(truth.size() == predicted.size(), "a prediction for every value");
  double sum = 0;
  for (size_t i = 0; i < truth.size(); ++i) sum += (truth[i] - predicted[i]) * (truth[i] - predicted[i]);
  return sum;
}

}  // namespace

double average_recall(std::span<const double> truth, std::span<const float> predicted, int top) {
  TW_ASSERT(truth.size() == predicted.size(), "a prediction for every value");
  const size_t n = std::min(truth.size(), static_cast<size_t>(std::max(top, 0)));
  if (n == 0) return 0;
  std::vector<size_t> rank(truth.size());
  const std::vector<size_t> true_order = descending(truth);
  for (size_t i = 0; i < true_order.size(); ++i) rank[true_order[i]] = i;
  const std::vector<size_t> order = descending(predicted);
  // found[r]: how many of the first k predicted have rank r; a sample counts from the k at which both its positions are inside.
  std::vector<size_t> enters(n, 0);
  for (size_t i = 0; i < n; ++i) {
    const size_t from = std::max(i, rank[order[i]]);
    if (from < n) ++enters[from];
  }
  double sum = 0;
  size_t inside = 0;
  for (size_t k = 0; k < n; ++k) {
    inside += enters[k];
    sum += static_cast<double>(inside) / static_cast<double>(k + 1);
  }
  return sum / static_cast<double>(n);
}

double pairwise_accuracy(std::span<const double> truth, std::span<const float> predicted) {
  TW_ASSERT(truth.size() == predicted.size(), "a prediction for every value");
  int64_t pairs = 0, twice_right = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (truth[i] == truth[j]) continue;
      ++pairs;
      if (predicted[i] == predicted[j])
        ++twice_right;
      else if ((predicted[i] > predicted[j]) == (truth[i] > truth[j]))
        twice_right += 2;
    }
  }
  return pairs > 0 ? static_cast<double>(twice_right) / static_cast<double>(2 * pairs) : 0.5;
}

double rmse(std::span<const double> truth, std::span<const float> predicted) {
  return truth.empty() ? 0 : std::sqrt(squared_error(truth, predicted) / static_cast<double>(truth.size()));
}

double r_squared(std::span<const double> truth, std::span<const float> predicted) {
  const double error = squared_error(truth, predicted);
  const double mean = std::accumulate(truth.begin(), truth.end(), 0.0) / static_cast<double>(std::max<size_t>(truth.size(), 1));
  double spread = 0;
  for (const double t : truth) spread += (t - mean) * (t - mean);
  if (spread <= 0) return error > 0 ? 0 : 1;
  return 1 - error / spread;
}

double top_k_score(std::span<const JudgedTask> tasks, int k) {
  double best_s = 0, found_s = 0;
  for (const JudgedTask& t : tasks) {
    TW_ASSERT(t.seconds.size() == t.predicted.size(), "a prediction for every time");
    const double best = t.seconds.empty() ? INFINITY : *std::min_element(t.seconds.begin(), t.seconds.end());
    if (!std::isfinite(best)) continue;
    const std::vector<size_t> order = descending(t.predicted);
    double found = INFINITY;
    for (size_t i = 0; i < std::min(order.size(), static_cast<size_t>(std::max(k, 0))); ++i) found = std::min(found, t.seconds[order[i]]);
    best_s += t.weight * best;
    found_s += t.weight * found;
  }
  return found_s > 0 ? best_s / found_s : 0;
}

double trials_to_reach(std::span<const double> seconds, std::span<const float> predicted, double slack) {
  TW_ASSERT(seconds.size() == predicted.size(), "a prediction for every time");
  const double best = seconds.empty() ? INFINITY : *std::min_element(seconds.begin(), seconds.end());
  if (!std::isfinite(best)) return static_cast<double>(seconds.size()) + 1;
  const double enough = best * (1 + slack);
  float first = -INFINITY;  // the highest prediction of one that is fast enough
  for (size_t i = 0; i < seconds.size(); ++i)
    if (seconds[i] <= enough) first = std::max(first, predicted[i]);
  double before = 0, equal = 0, good = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (predicted[i] > first) ++before;
    if (predicted[i] == first) ++equal, good += seconds[i] <= enough ? 1 : 0;
  }
  // The mean place of the first of `good` among `equal` in random order.
  return before + (equal + 1) / (good + 1);
}

Quality quality(std::span<const JudgedTask> tasks, std::span<const double> labels, std::span<const float> scores) {
  Quality q;
  double pairs = 0;
  size_t at = 0;
  for (const JudgedTask& t : tasks) {
    const size_t size = t.predicted.size();
    const double n = static_cast<double>(size) * static_cast<double>(size > 0 ? size - 1 : 0) / 2;
    q.pairs += n * pairwise_accuracy(labels.subspan(at, size), t.predicted);
    pairs += n;
    at += size;
  }
  q.pairs = pairs > 0 ? q.pairs / pairs : 0;
  q.best_of_1 = top_k_score(tasks, 1);
  q.best_of_8 = top_k_score(tasks, 8);
  q.rmse = rmse(labels, scores);
  q.r_squared = r_squared(labels, scores);
  return q;
}

}  // namespace tw::cost
