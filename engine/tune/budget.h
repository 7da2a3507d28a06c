// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tw::tune {

struct BudgetTask {
  double share = 1;      ///< weight × FLOPs, relative
  int64_t capacity = 0;  ///< trials that the task can use: its points and the default schedule
};

/// Splits `trials` over tasks in proportion to their shares. The sum is min(trials, sum of capacities), and no task gets more than its capacity.
/// With at least one trial per task, each gets at least one, and at least a quarter of an equal split; with fewer, those with the greatest shares get one each.
std::vector<int64_t> split_trials(int64_t trials, std::span<const BudgetTask> tasks);

}  // namespace tw::tune
