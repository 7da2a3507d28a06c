// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/tune/schedulers/schedulers.h"

namespace tw::tune {
namespace {

class RoundRobin : public TaskScheduler {
 public:
  Decision next(const SessionView& s) const override {
    Decision d;
    for (size_t i = 0; i < s.tasks.size(); ++i) {
      if (s.trials_left(i) == 0) continue;
      if (d.task < 0 || s.tasks[i].history.size() < s.tasks[static_cast<size_t>(d.task)].history.size()) d.task = static_cast<int>(i);
    }
    if (d.task < 0) return d;
    const auto chosen = static_cast<size_t>(d.task);
    d.trials = std::min<int64_t>(s.limits.batch, s.trials_left(chosen));
    d.why = "It has had the fewest rounds";
    d.terms = Json{{"rounds", s.tasks[chosen].history.size()}};
    return d;
  }
};

std::unique_ptr<TaskScheduler> make_round_robin(const Json&) { return std::make_unique<RoundRobin>(); }

}  // namespace

SchedulerDef round_robin_scheduler() {
  return {"round-robin",
          {},
          make_round_robin,
          "Gives every task a round in turn, whatever it weighs and whatever it gains; tasks that have nothing left are passed over. The baseline that a "
          "scheduler has to beat, and a fair one when tasks are compared.",
          "Ansor's strategy \"round-robin\" (Zheng et al., OSDI 2020)"};
}

}  // namespace tw::tune
