// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/budget.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw::tune {
namespace {

/// Positions in descending order of share, equal ones in their order.
std::vector<size_t> by_share(std::span<const BudgetTask> tasks) {
  std::vector<size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return tasks[a].share > tasks[b].share; });
  return order;
}

double positive(double share) { return std::isfinite(share) && share > 0 ? share : 1e-9; }

/// Gives out `left` in proportion, never above capacity. Whoever would exceed it is filled and leaves; the rest is split again.
void fill(int64_t left, std::span<const BudgetTask> tasks, std::vector<int64_t>& budgets) {
  const std::vector<size_t> order = by_share(tasks);
  while (left > 0) {
    double total = 0;
    for (size_t i : order) {
      if (budgets[i] < tasks[i].capacity) total += positive(tasks[i].share);
    }
    if (total == 0) return;
    const int64_t round = left;
    for (size_t i : order) {
      const double exact = static_cast<double>(round) * std::min(1.0, positive(tasks[i].share) / total);
      const int64_t part = std::min({tasks[i].capacity - budgets[i], left, static_cast<int64_t>(std::floor(exact))});
      budgets[i] += part;
      left -= part;
    }
    // Less than one for each: the heaviest with room gets it.
    const auto next = std::find_if(order.begin(), order.end(), [&](size_t i) { return budgets[i] < tasks[i].capacity; });
    if (left == round && next != order.end()) {
      ++budgets[*next];
      --left;
    }
  }
}

}  // namespace

std::vector<int64_t> split_trials(int64_t trials, std::span<const BudgetTask> tasks) {
  std::vector<int64_t> budgets(tasks.size(), 0);
  if (tasks.empty()) return budgets;
  const auto count = static_cast<int64_t>(tasks.size());
  const int64_t least = std::max<int64_t>(1, trials / (4 * count));
  int64_t left = trials;
  for (size_t i : by_share(tasks)) {
    const int64_t part = std::min({least, tasks[i].capacity, left});
    budgets[i] = part;
    left -= part;
  }
  fill(left, tasks, budgets);
  return budgets;
}

}  // namespace tw::tune
