// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/session.h"

#include <chrono>
#include <limits>
#include <numeric>
#include <thread>

#include "engine/base/text.h"
#include "engine/cost/cost_model.h"
#include "engine/target/host.h"
#include "engine/tune/task_run.h"

namespace tw::tune {
namespace {

/// Strategies are asked again for what they asked before an interruption as long as that took them no more than this the first time.
constexpr double kAskAgainSeconds = 60;

class SessionRun {
 public:
  SessionRun(const std::vector<SessionTask>& tasks, SessionContext& context, const TaskScheduler& scheduler)
      : context_(context), scheduler_(scheduler), start_s_(steady_s()) {
    for (size_t i = 0; i < tasks.size(); ++i) {
      TaskRun& run = *runs_.emplace_back(std::make_unique<TaskRun>(static_cast<int>(i), tasks[i], context));
      run.complete = [this](records::Round& round) { complete(round); };
    }
    finished_.resize(runs_.size());
    const SessionOptions& o = context.options;
    view_.limits = {o.trials, o.trials_per_task, o.time_s, o.batch};
    view_.seed = o.seed;
  }

  Expected<SessionReport> run() {
    context_.send(SessionPlanned{planned_trials()});
    restore();
    SessionReport report;
    report.network_s = std::numeric_limits<double>::infinity();
    if (!runs_.empty()) {
      TW_CHECK(measure_defaults());
      TW_CHECK(search(report.ended));
      for (size_t i = 0; i < runs_.size(); ++i) TW_CHECK(finish(i));
      report.network_s = network_s();
    }
    for (const auto& run : runs_) report.tasks.push_back(run->done());
    report.rounds = std::move(rounds_);
    report.models = models();
    report.build_s = context_.times.build_s;
    report.measure_s = context_.times.measure_s;
    report.search_s = context_.times.search_s;
    report.paused_s = context_.times.paused_s;
    report.total_s = steady_s() - start_s_;
    report.cancelled = stopped();
    return report;
  }

 private:
  bool stopped() const { return context_.control.stop.stop_requested(); }
  /// Of the session, work before an interruption included.
  double elapsed_s() const { return restored_.elapsed_s + steady_s() - start_s_ - context_.times.paused_s; }

  ModelCheck models() const {
    std::vector<std::span<const records::Record>> trials;
    for (const auto& run : runs_) trials.emplace_back(run->outcomes());
    ModelCheck check = check_models(trials);
    check.scores_are_speeds = context_.options.tuner_params.value("loss", "reg") == "reg";
    return check;
  }

  double network_s() const {
    double total = 0;
    for (const auto& run : runs_) total += run->view().weight * run->done().best_s;
    return total;
  }

  /// As a scheduler sees the session now.
  const SessionView& look() {
    view_.tasks.clear();
    for (const auto& run : runs_) view_.tasks.push_back(run->view());
    view_.round = last_.number + 1;
    return view_;
  }

  /// Trials of the whole session if nothing ends it early; 0 if only time does.
  int64_t planned_trials() {
    const SessionOptions& o = context_.options;
    if (o.trials == 0 && o.trials_per_task == 0) return 0;
    constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
    int64_t useful = 0;
    for (const TaskView& t : look().tasks) {
      const int64_t most = o.trials_per_task > 0 ? std::min(o.trials_per_task, t.capacity) : t.capacity;
      useful += std::min(most, kNoLimit - useful);
    }
    return o.trials > 0 ? std::min(o.trials, useful) : useful;
  }

  size_t task_of(const records::Round& round) const {
    return static_cast<size_t>(std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) { return run->task().key == round.task_key; }) - runs_.begin());
  }

  void restore() {
    if (context_.control.rounds != nullptr) {
      double searched_s = 0;
      for (const records::Round& round : *context_.control.rounds) searched_s += round.search_s;
      for (const records::Round& round : *context_.control.rounds) {
        const size_t task = task_of(round);
        if (task < runs_.size()) {
          if (runs_[task]->has_default()) begin(task);
          runs_[task]->restore(round, searched_s <= kAskAgainSeconds);
        }
        keep(round);
      }
    }
    restored_ = last_;
    for (const auto& run : runs_) run->restore_rest();
  }

  void keep(const records::Round& round) {
    last_ = round;
    if (!rounds_.empty() && rounds_.back().number == round.number) rounds_.pop_back();  // it was cut off
    rounds_.push_back(round);
  }

  void begin(size_t task) {
    if (runs_[task]->begun()) return;
    std::vector<PriorTask> prior;
    if (context_.options.transfer) {
      if (context_.control.earlier != nullptr) prior = *context_.control.earlier;
      for (size_t i = 0; i < runs_.size(); ++i)
        if (i != task) prior.push_back({runs_[i]->task(), runs_[i]->records()});
    }
    runs_[task]->begin(prior);
  }

  /// What a round is told of the session just before it is stored.
  void complete(records::Round& round) {
    round.session_trials = look().trials();
    round.network_s = network_s();
    round.elapsed_s = elapsed_s();
    round.measured_s = restored_.measured_s + context_.times.measure_s;
    round.search_s = begun_.search_s + context_.times.search_s - before_.search_s;
    round.build_s = begun_.build_s + context_.times.build_s - before_.build_s;
    round.measure_s = begun_.measure_s + context_.times.measure_s - before_.measure_s;
    round.total_s = begun_.total_s + round.elapsed_s - began_s_;
  }

  /// One round; `round` says of which task and why.
  Expected<void> run_round(size_t task, records::Round round, Expected<void> (TaskRun::*measure)(records::Round&)) {
    TW_CHECK(wait_while_paused());
    if (stopped()) return {};
    before_ = context_.times;
    began_s_ = elapsed_s();
    begun_ = round;
    round.task_key = runs_[task]->task().key;
    TW_CHECK((*runs_[task].*measure)(round));
    if (round.trials == 0) return {};
    keep(round);
    context_.send(RoundDone{static_cast<int>(task), std::move(round), models()});
    return {};
  }

  Expected<void> measure_defaults() {
    std::vector<size_t> order(runs_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto work = [&](size_t i) { return runs_[i]->view().weight * static_cast<double>(std::max<int64_t>(runs_[i]->view().flops, 1)); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return work(a) > work(b); });
    for (const size_t task : order) {
      if (stopped() || runs_[task]->has_default() || look().trials_left() == 0) continue;
      records::Round round{.number = last_.number + 1, .planned = 1, .decision = dump_json(Json{{"why", "Its default schedule"}})};
      TW_CHECK(run_round(task, std::move(round), &TaskRun::measure_default));
    }
    return {};
  }

  Expected<void> search(std::string& ended) {
    if (const size_t task = task_of(last_); task < runs_.size() && runs_[task]->was_cut_off(last_)) TW_CHECK(run_round(task, last_, &TaskRun::run));
    int chosen = -1;
    while (!stopped() && !out_of_time()) {
      const Decision d = scheduler_.next(look());
      if (d.task != chosen) TW_CHECK(finish_those_done());
      if (d.task < 0) {
        ended = d.why.empty() ? nothing_left() : d.why;
        break;
      }
      chosen = d.task;
      const auto task = static_cast<size_t>(d.task);
      begin(task);
      Json decision = d.terms.is_object() ? d.terms : Json::object();
      decision["why"] = d.why;
      records::Round round{.number = last_.number + 1, .planned = d.trials, .decision = dump_json(decision)};
      context_.send(RoundStarted{d.task, round.number, d.trials, d.budget, d.why});
      TW_CHECK(run_round(task, std::move(round), &TaskRun::run));
    }
    return {};
  }

  /// Why no task takes another trial although the limits would let it; empty where the limits are reached.
  std::string nothing_left() {
    const SessionView& v = look();
    const SessionOptions& o = context_.options;
    int tried = 0, patient = 0;
    for (size_t i = 0; i < v.tasks.size() && v.trials_left() > 0; ++i)
      if (o.trials_per_task == 0 || v.tasks[i].trials < o.trials_per_task) ++(runs_[i]->early_stop() ? patient : tried);
    if (tried + patient == 0) return {};
    const auto of_tasks = [&](int n, const char* one, const char* many) {
      return v.tasks.size() == 1 ? std::string(one) : fmt::format("{} of {} tasks {}", n, v.tasks.size(), many);
    };
    std::vector<std::string> reasons;
    if (tried > 0) reasons.push_back(of_tasks(tried, "the task's space has no further candidate", "have no further candidate"));
    if (patient > 0)
      reasons.push_back(fmt::format("{} after {} trials without a better one", of_tasks(patient, "the search stopped early,", "stopped early,"), o.early_stopping));
    const std::string asked = o.trials > 0 ? fmt::format("{} of the {} trials asked for were made", v.trials(), o.trials) : fmt::format("{} trials were made", v.trials());
    return fmt::format("{}: {}", asked, fmt::join(reasons, "; "));
  }

  bool out_of_time() const { return context_.options.time_s > 0 && elapsed_s() >= context_.options.time_s; }

  Expected<void> finish_those_done() {
    for (size_t i = 0; i < runs_.size(); ++i)
      if (!finished_[i] && scheduler_.is_done_with(i, view_)) TW_CHECK(finish(i));
    return {};
  }

  Expected<void> finish(size_t task) {
    if (finished_[task]) return {};
    finished_[task] = true;
    if (!stopped()) TW_CHECK(runs_[task]->finish());
    context_.send(runs_[task]->done());
    return {};
  }

  Expected<void> wait_while_paused() {
    if (!context_.control.paused || !context_.control.paused()) return {};
    TW_CHECK(context_.sink.note("paused", "The session waits between two rounds"));
    const double start = steady_s();
    while (context_.control.paused() && !stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    context_.times.paused_s += steady_s() - start;
    return context_.sink.note("resumed", fmt::format("After {:.3g} s", steady_s() - start));
  }

  SessionContext& context_;
  const TaskScheduler& scheduler_;
  const double start_s_;
  std::vector<std::unique_ptr<TaskRun>> runs_;
  std::vector<bool> finished_;
  SessionView view_;
  std::vector<records::Round> rounds_;
  records::Round restored_, last_;  ///< the last one of before an interruption; the last one so far
  // The round that is running: as it was when it began, and what the clocks said.
  records::Round begun_;
  PhaseTimes before_;
  double began_s_ = 0;
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

Expected<SessionReport> run_session(const std::vector<SessionTask>& tasks, const SessionOptions& given, measure::Builder& builder, measure::Runner& runner,
                                    records::RecordSink& sink, const EventSink& events, const SessionControl& control) {
  TW_TRY(const SessionOptions options, session_options(to_json(given)));
  const SchedulerDef* scheduler = find_scheduler(options.scheduler);
  const NoticesOf notices(runner, events);
  PhaseTimes times;
  BatchMeasurer measurer(builder, runner, control.stop, times);
  WorkerPool workers(target::host_cores());
  const StrategyDef& strategy = *find_strategy(options.tuner);
  cost::SharedModel model;
  if (strategy.shared_model != nullptr && !tasks.empty()) {
    TW_TRY(model.model, strategy.shared_model(options.tuner_params, tasks.front().task.target));
  }
  SessionContext context{options, strategy, measurer, sink, events, control, times, workers, model.model ? &model : nullptr};
  return SessionRun(tasks, context, *scheduler->make(options.scheduler_params)).run();
}

}  // namespace tw::tune
