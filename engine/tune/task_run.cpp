// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/task_run.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/records/best.h"
#include "engine/tune/finals.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Failures of our machinery, each retried once, after which a session gives up.
constexpr int64_t kMaxInfraInARow = 8;
constexpr size_t kLeaders = 8;
constexpr int kAnchorSamples = 5;
constexpr auto kLookAgain = std::chrono::milliseconds(300);
/// After this many trials of its own, a search whose best is this many times slower than another's waits.
constexpr int64_t kFairTrials = 32;
constexpr double kFarBehind = 1.5;

/// The templates whose spaces a session searches; none where the task has none such.
std::vector<const space::Template*> searched_templates(const records::Task& task, const SessionOptions& options) {
  if (options.space.empty()) return space::alternatives(*task.dag, task.target);
  const space::Template* named = space::find_template(*task.dag, task.target, options.space);
  return named ? std::vector{named} : std::vector<const space::Template*>{};
}

bool tells_of_candidate(const records::MeasureResult& r) { return r.ok() || records::blames_candidate(r.status); }

}  // namespace

double SessionContext::wait_while_paused() {
  const double start = steady_s();
  while (control.paused && control.paused() && !control.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double waited = steady_s() - start;
  paused_s += waited;
  return waited;
}

void SessionContext::add_prior(const records::Task& task, const std::vector<records::Record>& records) {
  for (const space::Template* found : searched_templates(task, options)) {
    auto p = std::make_unique<PriorTask>(PriorTask{task, found, found->space(*task.dag, task.target), {}});
    for (const records::Record& r : records) {
      const bool of_space = r.candidate.space == found->name && r.candidate.index >= 0 && r.candidate.index < p->space.size();
      if (of_space && tells_of_candidate(r.result)) p->results.push_back({r.candidate.index, r.result});
    }
    prior.push_back(std::move(p));
  }
}

TaskRun::TaskRun(int number, const SessionTask& task, SessionContext& context)
    : number_(number), task_(task), context_(context), default_s_(kNever), best_s_(kNever), epoch_(context.epoch) {
  const ScopedTimer timer(context.times.search_s);
  const records::Task& t = task.task;
  uint64_t seed = hash_combine(context.options.seed, stable_hash(t.key));
  for (const space::Template* found : searched_templates(t, context.options)) {
    Search& s = searches_.emplace_back(Search{.space_template = found, .space = found->space(*t.dag, t.target), .best_s = kNever});
    if (auto points = context.measurer.points(t, found->name)) s.space.keep_only(std::move(*points), "no trial of this point was recorded");
    s.strategy = context.strategy.make({s.space, context.params, Rng(seed), &task_.task, found, context.control.stop});
    points_ += usable_points(s.space);
    seed = hash_combine(seed, stable_hash(found->name));
  }
  for (const records::Record& r : task.history) {
    account(r);
    if (Search* s = search_of(r)) s->seen.insert(r.candidate.index);
  }
  learn(task.history);
}

TaskRun::Search* TaskRun::search_of(const records::Record& record) {
  if (record.candidate.index < 0) return nullptr;
  for (Search& s : searches_)
    if (s.space_template->name == record.candidate.space) return &s;
  return nullptr;
}

void TaskRun::learn(std::span<const records::Record> records) {
  for (Search& s : searches_) {
    std::vector<Observation> learned;
    for (const records::Record& r : records)
      if (search_of(r) == &s && tells_of_candidate(r.result)) learned.push_back({r.candidate.index, comparable(r.result)});
    if (!learned.empty()) s.strategy->observe(learned);
    s.known.insert(s.known.end(), learned.begin(), learned.end());
  }
}

bool TaskRun::behind(const Search& search) const { return search.trials >= kFairTrials && search.best_s > kFarBehind * best_s_; }

double TaskRun::share() const { return static_cast<double>(task_.weight) * static_cast<double>(std::max<int64_t>(task_.task.flops, 1)); }

void TaskRun::account(const records::Record& record) {
  ++trials_;
  ++by_status_[record.result.status];
  const double seconds = record.result.verified && !record.result.censored ? record.result.decided_s() : kNever;
  if (record.candidate.index < 0 && record.candidate.space == "default") {
    default_done_ = true;
    default_s_ = std::min(default_s_, seconds);
    if (seconds != kNever) default_ = record;
  }
  if (Search* s = search_of(record)) {
    ++s->trials;
    s->best_s = std::min(s->best_s, seconds);
  }
  if (seconds != kNever) {
    const double comparable = seconds / scale_;
    const auto place = std::upper_bound(leaders_.begin(), leaders_.end(), comparable, [](double s, const Leader& leader) { return s < leader.seconds; });
    leaders_.insert(place, {record, comparable});
    if (leaders_.size() > kLeaders) leaders_.pop_back();
  }
  if (seconds < best_s_) {
    best_s_ = seconds;
    lowest_ = record;
    trials_of_best_ = trials_;
  }
}

records::MeasureResult TaskRun::comparable(records::MeasureResult result) const {
  for (double& s : result.samples_s) s /= scale_;
  return result;
}

bool TaskRun::early_stop() const {
  const int64_t patience = context_.options.early_stopping;
  return patience > 0 && trials_ > 0 && trials_ - trials_of_best_ >= patience;
}

Expected<void> TaskRun::run(int64_t budget, double time_s) {
  std::string names;
  int64_t points = 0;
  for (const Search& s : searches_) {
    names += fmt::format("{}{}", names.empty() ? "" : " + ", s.space_template->name);
    points += s.space.size();
  }
  context_.send(TaskStarted{number_, names.empty() ? "default" : names, points, budget});
  for (Search& s : searches_) {
    if (!context_.options.transfer) break;
    std::vector<const PriorTask*> prior;
    for (const auto& p : context_.prior)
      if (p->space_template == s.space_template && p->task.key != task_.task.key) prior.push_back(p.get());
    s.strategy->transfer(prior);
  }
  double deadline = steady_s() + time_s;
  bool fresh = false;
  while (trials_ < budget && !early_stop() && (!default_done_ || steady_s() < deadline)) {
    deadline += context_.wait_while_paused();
    if (context_.control.stop.stop_requested()) break;
    const std::vector<PointCandidate> batch = next_batch(budget - trials_);
    if (batch.empty()) break;
    TW_CHECK(look_for_drift(static_cast<int64_t>(batch.size())));
    TW_CHECK(try_batch(batch));
    fresh = true;
  }
  for (const Search& s : searches_)
    if (context_.options.transfer) context_.prior.push_back(std::make_unique<PriorTask>(PriorTask{task_.task, s.space_template, s.space, s.known}));
  return fresh && !context_.control.stop.stop_requested() ? finals() : Expected<void>();
}

Expected<void> TaskRun::look_for_drift(int64_t trials) {
  if (context_.drift.due(trials, steady_s())) {
    for (;;) {
      const auto now = context_.measurer.references();
      if (!now) return now.error().code == ErrorCode::cancelled ? Expected<void>() : now.error();
      const DriftGate::State state = context_.drift.observe(*now, steady_s());
      if (state == DriftGate::State::steady || context_.control.stop.stop_requested()) break;
      if (state == DriftGate::State::new_epoch) {
        ++context_.epoch;
        context_.send(Note{fmt::format("The machine's speed changed ({}); times before and after are compared through kernels that are measured again",
                                       context_.drift.change())});
        break;
      }
      std::this_thread::sleep_for(kLookAgain);
    }
  }
  return epoch_ == context_.epoch ? Expected<void>() : begin_epoch();
}

Expected<void> TaskRun::begin_epoch() {
  epoch_ = context_.epoch;
  if (leaders_.empty()) return {};
  std::vector<records::Candidate> anchors;
  for (const Leader& l : leaders_) anchors.push_back(l.record.candidate);
  measure::RunOptions run;
  run.samples = kAnchorSamples;
  run.weights = context_.options.weights;
  run.input_seed = context_.options.seed;
  Rng order(run.input_seed);
  const auto again = context_.measurer.compete(task_.task, anchors, run, 1, order, [&](const char* name) { context_.send(Phase{number_, name}); });
  std::vector<double> changes;
  for (size_t i = 0; i < again.size(); ++i)
    if (again[i][0].ok()) changes.push_back(again[i][0].seconds() / leaders_[i].seconds);
  if (changes.empty()) return {};
  std::nth_element(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2), changes.end());
  scale_ = changes[changes.size() / 2];
  return {};
}

Expected<void> TaskRun::finals() {
  FinalOptions options;
  options.finalists = context_.options.finalists;
  options.weights = context_.options.weights;
  if (options.finalists < 2) return {};
  std::vector<records::Record> finalists;
  for (const Leader& l : leaders_) {
    if (finalists.size() < static_cast<size_t>(options.finalists) && l.seconds <= options.within * leaders_[0].seconds) finalists.push_back(l.record);
  }
  // The lowest has the better number, so it needs a verdict for the first leader to be called best; the default schedule is what all are compared with.
  for (const std::optional<records::Record>* one : {&lowest_, &default_}) {
    const auto same = [&](const records::Record& r) { return records::same_point(r.candidate, (*one)->candidate); };
    if (*one && std::none_of(finalists.begin(), finalists.end(), same)) finalists.push_back(**one);
  }
  if (finalists.size() < 2) return {};
  finalists = run_finals(task_.task, std::move(finalists), best_s_, options, context_.measurer,
                         hash_combine(context_.options.seed, stable_hash(task_.task.key)), [&](const char* name) {
                           context_.send(Phase{number_, name});
                         });
  if (finalists.empty()) return {};
  TW_CHECK(context_.sink.settle(task_.task, finalists));
  best_s_ = kNever;
  for (const records::Record& r : finalists) {
    best_s_ = std::min(best_s_, r.result.decided_s());
    if (default_ && records::same_point(r.candidate, default_->candidate)) default_s_ = r.result.decided_s();
  }
  context_.send(FinalsDone{number_, std::move(finalists), best_s_});
  return {};
}

std::vector<PointCandidate> TaskRun::next_batch(int64_t limit) {
  const ScopedTimer timer(context_.times.search_s);
  context_.send(Phase{number_, "search"});
  if (!default_done_) return {{default_candidate(task_.task), {}}};
  const auto wanted = static_cast<size_t>(std::min<int64_t>(limit, std::max(1, context_.options.batch)));
  std::vector<Search*> ahead, waiting;
  for (Search& s : searches_) (behind(s) ? waiting : ahead).push_back(&s);
  // Those with fewest trials first, so that a small batch is not always the same one's.
  std::stable_sort(ahead.begin(), ahead.end(), [](const Search* a, const Search* b) { return a->trials < b->trials; });
  std::vector<PointCandidate> batch;
  for (size_t k = 0; k < ahead.size(); ++k) propose(*ahead[k], (wanted - batch.size() + ahead.size() - k - 1) / (ahead.size() - k), batch);
  // What a search has too few points for, the others take.
  for (Search* s : ahead) propose(*s, wanted - batch.size(), batch);
  if (batch.empty())
    for (Search* s : waiting) propose(*s, wanted - batch.size(), batch);
  return batch;
}

void TaskRun::propose(Search& search, size_t count, std::vector<PointCandidate>& batch) {
  const size_t wanted = batch.size() + count;
  if (!search.begun && count > 0) {
    // The point that its template would choose comes first, so that a small budget sees what each algorithm is good for. One of them is the default schedule.
    search.begun = true;
    const space::ConfigEntity point = search.space_template->fallback(*task_.task.dag, task_.task.target);
    const bool measured = search.space_template == space::fallback_template(*task_.task.dag, task_.task.target);
    if (point.index() >= 0 && !measured && is_valid_point(search.space, point.index()) && search.seen.insert(point.index()).second)
      batch.push_back(point_candidate(task_.task, *search.space_template, point));
  }
  while (batch.size() < wanted) {
    const std::vector<int64_t> points = search.strategy->propose(static_cast<int>(wanted - batch.size()));
    if (points.empty()) break;
    const std::vector<std::optional<records::Prediction>> predictions = search.strategy->predictions(points);
    for (size_t i = 0; i < points.size(); ++i) {
      if (search.seen.contains(points[i])) continue;
      const auto entity = search.space.get(points[i]);
      TW_ASSERT(entity.has_value(), "a strategy proposed a point outside its space");
      batch.push_back(point_candidate(task_.task, *search.space_template, *entity));
      batch.back().prediction = predictions[i];
    }
  }
}

Expected<void> TaskRun::try_batch(const std::vector<PointCandidate>& batch) {
  measure::RunOptions run;
  run.incumbent_s = leaders_.empty() ? 0 : leaders_[0].seconds * scale_;
  run.input_seed = context_.options.seed;
  run.weights = context_.options.weights;
  std::vector<records::Record> records = context_.measurer.measure(task_.task, batch, run, [&](const char* name) { context_.send(Phase{number_, name}); });
  std::erase_if(records, [](const records::Record& r) { return r.result.status == records::Status::cancelled; });
  if (records.empty()) {
    if (context_.control.stop.stop_requested()) return {};
    return Error(ErrorCode::infrastructure, "Expected results of a batch, found all of them cancelled although nobody asked to stop");
  }
  TW_CHECK(context_.sink.store(task_.task, records));
  for (const records::Record& r : records) {
    account(r);
    context_.send(TrialDone{number_, trials_, r, best_s_});
    context_.infra_in_a_row = r.result.status == records::Status::infra ? context_.infra_in_a_row + 1 : 0;
    if (r.candidate.index < 0) default_done_ = true;
  }
  {
    const ScopedTimer timer(context_.times.search_s);
    learn(records);
  }
  if (context_.infra_in_a_row >= kMaxInfraInARow) {
    return Error(ErrorCode::infrastructure, fmt::format("The session stopped after {} failures in a row that are not the candidates' fault; the last: {}",
                                                        context_.infra_in_a_row, records.back().result.message));
  }
  return {};
}

TaskDone TaskRun::done() const { return {number_, default_s_, best_s_, trials_, by_status_}; }

}  // namespace tw::tune
