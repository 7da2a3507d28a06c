// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/session.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/tune/budget.h"
#include "engine/tune/task_run.h"

namespace tw::tune {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

Expected<const StrategyDef*> strategy_of(const SessionOptions& options) {
  if (const StrategyDef* def = find_strategy(options.tuner)) return def;
  std::vector<std::string> names;
  for (const StrategyDef& def : strategies()) names.push_back(def.name);
  return Error(ErrorCode::unsupported, fmt::format("Expected a tuner out of {}, found '{}'", fmt::join(names, ", "), printable(options.tuner)));
}

Expected<void> check_options(const SessionOptions& o) {
  const auto negative = [](const char* name, auto value) {
    return Error(ErrorCode::invalid_argument, fmt::format("Expected '{}' of 0 or more, found {}", name, value));
  };
  if (o.trials < 0) return negative("trials", o.trials);
  if (o.trials_per_task < 0) return negative("trials_per_task", o.trials_per_task);
  if (!(o.time_s >= 0)) return negative("time_s", o.time_s);
  if (o.finalists < 0) return negative("finalists", o.finalists);
  if (o.early_stopping < 0) return negative("early_stopping", o.early_stopping);
  if (o.batch < 1) return Error(ErrorCode::invalid_argument, fmt::format("Expected a 'batch' of 1 or more, found {}", o.batch));
  return {};
}

/// The tasks of a session, heaviest first, and what is left of its limits.
class SessionRun {
 public:
  SessionRun(const std::vector<SessionTask>& tasks, SessionContext& context) : context_(context), start_s_(steady_s()) {
    for (size_t i = 0; i < tasks.size(); ++i) runs_.push_back(std::make_unique<TaskRun>(static_cast<int>(i), tasks[i], context));
    order_.resize(runs_.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return runs_[a]->share() > runs_[b]->share(); });
  }

  Expected<SessionReport> run() {
    SessionReport report;
    context_.send(SessionPlanned{planned_trials()});
    report.tasks.resize(runs_.size());
    Expected<void> outcome;
    for (size_t k = 0; k < order_.size(); ++k) {
      TaskRun& task = *runs_[order_[k]];
      if (outcome && !context_.control.stop.stop_requested()) {
        const int64_t budget = budget_from(k);
        if (budget > 0) outcome = task.run(budget, time_from(k));
      }
      report.tasks[order_[k]] = task.done();
      if (outcome) context_.send(task.done());
    }
    if (!outcome) return outcome.error();
    report.build_s = context_.times.build_s;
    report.measure_s = context_.times.measure_s;
    report.search_s = context_.times.search_s;
    report.total_s = steady_s() - start_s_;
    report.cancelled = context_.control.stop.stop_requested();
    return report;
  }

 private:
  int64_t cap() const { return context_.options.trials_per_task > 0 ? context_.options.trials_per_task : kNoLimit; }

  /// Trials of the whole session if nothing ends it early; 0 if only time does.
  int64_t planned_trials() const {
    const SessionOptions& o = context_.options;
    if (o.trials == 0 && o.trials_per_task == 0) return 0;
    int64_t useful = 0;
    for (const auto& run : runs_) useful += std::min({cap(), run->capacity(), kNoLimit - useful});
    return o.trials > 0 ? std::min(o.trials, useful) : useful;
  }

  /// Trials for the k-th task: what the tasks before it left over is split again over it and those after it.
  int64_t budget_from(size_t k) const {
    const SessionOptions& o = context_.options;
    if (o.trials == 0) return std::min(cap(), runs_[order_[k]]->capacity());
    int64_t left = o.trials;
    std::vector<BudgetTask> rest;
    for (size_t i = 0; i < order_.size(); ++i) {
      const TaskRun& task = *runs_[order_[i]];
      if (i < k) {
        left -= task.trials();
      } else {
        rest.push_back({task.share(), std::min(cap(), task.capacity())});
      }
    }
    return split_trials(std::max<int64_t>(left, 0), rest)[0];
  }

  /// Seconds for the k-th task: its share of what is left.
  double time_from(size_t k) const {
    if (context_.options.time_s == 0) return std::numeric_limits<double>::infinity();
    double total = 0;
    for (size_t i = k; i < order_.size(); ++i) total += runs_[order_[i]]->share();
    const double left = context_.options.time_s + context_.paused_s - (steady_s() - start_s_);
    return left * runs_[order_[k]]->share() / total;
  }

  SessionContext& context_;
  double start_s_;
  std::vector<std::unique_ptr<TaskRun>> runs_;
  std::vector<size_t> order_;
};

/// While it lives, what a runner says of long waits is an event.
struct NoticesOf {
  measure::Runner& runner;
  NoticesOf(measure::Runner& r, const EventSink& events) : runner(r) {
    runner.tell([&events](const std::string& text) {
      if (events) events(Note{text});
    });
  }
  ~NoticesOf() { runner.tell({}); }
};

}  // namespace

Json to_json(const SessionOptions& o) {
  return {{"tuner", o.tuner},
          {"tuner_params", o.tuner_params},
          {"space", o.space},
          {"seed", o.seed},
          {"trials", o.trials},
          {"trials_per_task", o.trials_per_task},
          {"time_s", o.time_s},
          {"batch", o.batch},
          {"early_stopping", o.early_stopping},
          {"finalists", o.finalists},
          {"weights", records::weights_name(o.weights)},
          {"transfer", o.transfer}};
}

Expected<SessionReport> run_session(const std::vector<SessionTask>& tasks, const SessionOptions& options, measure::Builder& builder, measure::Runner& runner,
                                    records::RecordSink& sink, const EventSink& events, const SessionControl& control) {
  TW_CHECK(check_options(options));
  TW_TRY(const StrategyDef* strategy, strategy_of(options));
  TW_TRY(const Json params, resolve_params(strategy->params, options.tuner_params));
  const NoticesOf notices(runner, events);
  PhaseTimes times;
  BatchMeasurer measurer(builder, runner, control.stop, times);
  SessionContext context{options, *strategy, params, measurer, sink, events, control, times};
  if (options.transfer && control.earlier != nullptr) {
    for (const EarlierTrials& e : *control.earlier) context.add_prior(e.task, e.records);
  }
  return SessionRun(tasks, context).run();
}

}  // namespace tw::tune
