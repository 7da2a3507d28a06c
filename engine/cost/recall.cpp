// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/recall.h"

#include <algorithm>
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

}  // namespace tw::cost
