// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "engine/tune/budget.h"
#include "engine/tune/schedulers/schedulers.h"

#include <fmt/format.h>

namespace tw::tune {
namespace {

constexpr double kNoTimeLimit = std::numeric_limits<double>::infinity();

/// Tasks one after another, heaviest first. What a task leaves over is split again over those after it.
class Proportional : public TaskScheduler {
 public:
  Decision next(const SessionView& s) const override {
    const std::vector<size_t> order = heaviest_first(s);
    for (size_t k = 0; k < order.size(); ++k) {
      const Part part = part_of(s, order, k);
      const TaskView& task = s.tasks[order[k]];
      const int64_t left = std::min(part.trials - task.trials, s.trials_left(order[k]));
      if (left <= 0 || task.spent_s >= part.seconds) continue;
      Json terms = {{"share", part.share}, {"trials", part.trials}};
      if (part.seconds != kNoTimeLimit) terms["time_s"] = part.seconds;
      return {.task = static_cast<int>(order[k]),
              .trials = std::min<int64_t>(left, s.limits.batch),
              .budget = part.trials,
              .why = fmt::format("{:.0f} % of the work that is left", 100 * part.share),
              .terms = std::move(terms)};
    }
    return {};
  }

  bool is_done_with(size_t task, const SessionView& s) const override {
    const Decision now = next(s);
    if (now.task < 0) return true;
    const std::vector<size_t> order = heaviest_first(s);
    const auto place = [&](size_t t) { return std::find(order.begin(), order.end(), t); };
    return place(task) < place(static_cast<size_t>(now.task));
  }

 private:
  struct Part {
    double share = 0;    ///< of what is left
    int64_t trials = 0;  ///< of the task, those that it has had included
    double seconds = 0;
  };

  static double work(const TaskView& t) { return t.weight * static_cast<double>(std::max<int64_t>(t.flops, 1)); }

  static std::vector<size_t> heaviest_first(const SessionView& s) {
    std::vector<size_t> order(s.tasks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return work(s.tasks[a]) > work(s.tasks[b]); });
    return order;
  }

  /// What falls to the k-th task once those before it have had theirs.
  static Part part_of(const SessionView& s, const std::vector<size_t>& order, size_t k) {
    int64_t trials = s.limits.trials;
    double seconds = s.limits.time_s, total = 0;
    std::vector<BudgetTask> rest;
    for (size_t i = 0; i < order.size(); ++i) {
      const TaskView& t = s.tasks[order[i]];
      if (i < k) {
        trials -= t.trials, seconds -= t.spent_s;
        continue;
      }
      const int64_t capacity = s.limits.trials_per_task > 0 ? std::min(t.capacity, s.limits.trials_per_task) : t.capacity;
      rest.push_back({work(t), capacity});
      total += work(t);
    }
    Part part;
    part.share = work(s.tasks[order[k]]) / total;
    part.trials = s.limits.trials == 0 ? rest[0].capacity : split_trials(std::max<int64_t>(trials, 0), rest)[0];
    part.seconds = s.limits.time_s == 0 ? kNoTimeLimit : seconds * part.share;
    return part;
  }
};

std::unique_ptr<TaskScheduler> make_proportional(const Json&) { return std::make_unique<Proportional>(); }

}  // namespace

SchedulerDef proportional_scheduler() {
  return {"proportional",
          {},
          make_proportional,
          "Splits the trials over the tasks in proportion to weight x FLOPs before anything is known, and tunes one task after another, the heaviest first. What "
          "a task cannot use goes to those after it. It is what tuning every task by itself comes to.",
          "The split of a session's budget in AutoTVM's tutorials, weighted"};
}

}  // namespace tw::tune
