// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/task_run.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/tune/finals.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Failures of our machinery, each retried once, after which a session gives up.
constexpr int64_t kMaxInfraInARow = 8;

bool tells_of_candidate(const records::MeasureResult& r) { return r.ok() || records::blames_candidate(r.status); }

}  // namespace

double SessionContext::wait_while_paused() {
  const double start = steady_s();
  while (control.paused && control.paused() && !control.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double waited = steady_s() - start;
  paused_s += waited;
  return waited;
}

TaskRun::TaskRun(int number, const SessionTask& task, SessionContext& context)
    : number_(number), task_(task), context_(context), default_s_(kNever), best_s_(kNever) {
  const records::Task& t = task.task;
  template_ = space::find_template(*t.dag, t.target);
  if (template_) {
    space_ = template_->space(*t.dag, t.target);
    points_ = usable_points(space_);
    strategy_ = context.strategy.make(
        {space_, context.params, Rng(hash_combine(context.options.seed, stable_hash(t.key))), &task_.task, template_, context.control.stop});
  }
  std::vector<Observation> known;
  for (const records::Record& r : task.history) {
    account(r);
    if (r.candidate.index < 0) continue;
    seen_.insert(r.candidate.index);
    if (tells_of_candidate(r.result)) known.push_back({r.candidate.index, r.result});
  }
  if (strategy_ && !known.empty()) strategy_->observe(known);
}

double TaskRun::share() const { return static_cast<double>(task_.weight) * static_cast<double>(std::max<int64_t>(task_.task.flops, 1)); }

void TaskRun::account(const records::Record& record) {
  ++trials_;
  ++by_status_[record.result.status];
  const double seconds = record.result.verified && !record.result.censored ? record.result.seconds() : kNever;
  if (record.candidate.index < 0 && record.candidate.space == "default") {
    default_done_ = true;
    default_s_ = std::min(default_s_, seconds);
  }
  if (seconds != kNever && context_.options.finalists > 1) {
    const auto place = std::upper_bound(leaders_.begin(), leaders_.end(), seconds, [](double s, const auto& leader) { return s < leader.result.seconds(); });
    leaders_.insert(place, record);
    if (leaders_.size() > static_cast<size_t>(context_.options.finalists)) leaders_.pop_back();
  }
  if (seconds < best_s_) {
    best_s_ = seconds;
    trials_of_best_ = trials_;
  }
}

bool TaskRun::early_stop() const {
  const int64_t patience = context_.options.early_stopping;
  return patience > 0 && trials_ > 0 && trials_ - trials_of_best_ >= patience;
}

Expected<void> TaskRun::run(int64_t budget, double time_s) {
  context_.send(TaskStarted{number_, template_ ? template_->name : "default", template_ ? space_.size() : 0, budget});
  double deadline = steady_s() + time_s;
  bool fresh = false;
  while (trials_ < budget && !early_stop() && (!default_done_ || steady_s() < deadline)) {
    deadline += context_.wait_while_paused();
    if (context_.control.stop.stop_requested()) break;
    const std::vector<PointCandidate> batch = next_batch(budget - trials_);
    if (batch.empty()) break;
    TW_CHECK(try_batch(batch));
    fresh = true;
  }
  return fresh && !context_.control.stop.stop_requested() ? finals() : Expected<void>();
}

Expected<void> TaskRun::finals() {
  FinalOptions options;
  std::vector<records::Record> finalists = leaders_;
  std::erase_if(finalists, [&](const records::Record& r) { return r.result.seconds() > options.within * leaders_[0].result.seconds(); });
  if (finalists.size() < 2) return {};
  finalists = run_finals(task_.task, std::move(finalists), options, context_.measurer, hash_combine(context_.options.seed, stable_hash(task_.task.key)),
                         [&](const char* name) {
                           context_.send(Phase{number_, name});
                         });
  if (finalists.empty()) return {};
  TW_CHECK(context_.sink.settle(task_.task, finalists));
  best_s_ = kNever;
  for (const records::Record& r : finalists) best_s_ = std::min(best_s_, r.result.decided_s());
  context_.send(FinalsDone{number_, std::move(finalists), best_s_});
  return {};
}

std::vector<PointCandidate> TaskRun::next_batch(int64_t limit) {
  const ScopedTimer timer(context_.times.search_s);
  context_.send(Phase{number_, "search"});
  if (!default_done_) return {{default_candidate(task_.task), {}}};
  if (!strategy_) return {};
  const auto wanted = static_cast<size_t>(std::min<int64_t>(limit, std::max(1, context_.options.batch)));
  std::vector<PointCandidate> batch;
  while (batch.size() < wanted) {
    const std::vector<int64_t> points = strategy_->propose(static_cast<int>(wanted - batch.size()));
    if (points.empty()) break;
    for (const int64_t point : points) {
      if (seen_.contains(point)) continue;
      const auto entity = space_.get(point);
      TW_ASSERT(entity.has_value(), "a strategy proposed a point outside its space");
      batch.push_back(point_candidate(task_.task, *template_, *entity));
    }
  }
  return batch;
}

Expected<void> TaskRun::try_batch(const std::vector<PointCandidate>& batch) {
  measure::RunOptions run;
  run.incumbent_s = best_s_ == kNever ? 0 : best_s_;
  run.input_seed = context_.options.seed;
  std::vector<records::Record> records = context_.measurer.measure(task_.task, batch, run, [&](const char* name) { context_.send(Phase{number_, name}); });
  std::erase_if(records, [](const records::Record& r) { return r.result.status == records::Status::cancelled; });
  if (records.empty()) {
    if (context_.control.stop.stop_requested()) return {};
    return Error(ErrorCode::infrastructure, "Expected results of a batch, found all of them cancelled although nobody asked to stop");
  }
  TW_CHECK(context_.sink.store(task_.task, records));
  std::vector<Observation> learned;
  for (const records::Record& r : records) {
    account(r);
    context_.send(TrialDone{number_, trials_, r, best_s_});
    context_.infra_in_a_row = r.result.status == records::Status::infra ? context_.infra_in_a_row + 1 : 0;
    if (r.candidate.index >= 0 && tells_of_candidate(r.result)) learned.push_back({r.candidate.index, r.result});
    if (r.candidate.index < 0) default_done_ = true;
  }
  if (strategy_ && !learned.empty()) strategy_->observe(learned);
  if (context_.infra_in_a_row >= kMaxInfraInARow) {
    return Error(ErrorCode::infrastructure, fmt::format("The session stopped after {} failures in a row that are not the candidates' fault; the last: {}",
                                                        context_.infra_in_a_row, records.back().result.message));
  }
  return {};
}

TaskDone TaskRun::done() const { return {number_, default_s_, best_s_, trials_, by_status_}; }

}  // namespace tw::tune
