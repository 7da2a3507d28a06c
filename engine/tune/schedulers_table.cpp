// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/tune/schedulers/schedulers.h"

namespace tw::tune {

const std::vector<SchedulerDef>& schedulers() {
  static const std::vector<SchedulerDef> table = {proportional_scheduler(), round_robin_scheduler(), gradient_scheduler()};
  return table;
}

const SchedulerDef* find_scheduler(std::string_view name) {
  const auto found = std::find_if(schedulers().begin(), schedulers().end(), [&](const SchedulerDef& d) { return d.name == name; });
  return found == schedulers().end() ? nullptr : &*found;
}

int64_t SessionView::trials() const {
  int64_t total = 0;
  for (const TaskView& t : tasks) total += t.trials;
  return total;
}

int64_t SessionView::trials_left() const {
  return limits.trials == 0 ? std::numeric_limits<int64_t>::max() : std::max<int64_t>(0, limits.trials - trials());
}

int64_t SessionView::trials_left(size_t task) const {
  const TaskView& t = tasks[task];
  if (t.exhausted) return 0;
  int64_t left = std::min(trials_left(), t.capacity - t.trials);
  if (limits.trials_per_task > 0) left = std::min(left, limits.trials_per_task - t.trials);
  return std::max<int64_t>(0, left);
}

double SessionView::network_s() const {
  double total = 0;
  for (const TaskView& t : tasks) total += t.weight * t.best_s();
  return total;
}

}  // namespace tw::tune
