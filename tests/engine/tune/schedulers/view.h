// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tune/scheduler.h"

namespace tw::tune::fixture {

/// A task whose default schedule took history[0] and whose rounds brought the rest; ten trials a round.
inline TaskView task(double weight, int64_t flops, std::vector<double> history, std::string tag = {}) {
  TaskView t;
  t.weight = weight;
  t.flops = flops;
  t.tag = std::move(tag);
  t.trials = history.empty() ? 0 : 1 + 10 * (static_cast<int64_t>(history.size()) - 1);
  t.capacity = 1000;
  t.history = std::move(history);
  return t;
}

inline SessionView session(std::vector<TaskView> tasks, int64_t trials = 1000) {
  SessionView s;
  s.limits.trials = trials;
  s.limits.batch = 10;
  s.tasks = std::move(tasks);
  return s;
}

inline std::unique_ptr<TaskScheduler> scheduler(const char* name, const Json& params = Json::object()) {
  const SchedulerDef* def = find_scheduler(name);
  return def->make(resolve_params(def->params, params).value());
}

}  // namespace tw::tune::fixture
