// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/task_run.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "engine/base/hash.h"
#include "engine/base/rank_correlation.h"
#include "engine/base/text.h"
#include "engine/tune/finals.h"
#include "engine/tune/similarity.h"

namespace tw::tune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// Failures of our machinery, each retried once, after which a session gives up.
constexpr int64_t kMaxInfraInARow = 8;
constexpr size_t kLeaders = 8, kAnchors = 3;
constexpr int kAnchorSamples = 5;

/// A round's decision with what the strategy says of its work.
std::string with_search(const std::string& decision, Json search) {
  auto out = parse_json(decision);
  if (search.is_null() || !out || !out->is_object()) return decision;
  (*out)["search"] = std::move(search);
  return dump_json(*out);
}

/// How well the drafts' and the model's scores put a round's candidates into the order of their speeds, as `search.order` in its decision; a failure is slower than whatever ran.
std::string with_order(const std::string& decision, std::span<const Proposal> batch, std::span<const records::Record> records) {
  constexpr size_t kFewest = 4;  // of fewer a correlation says nothing
  auto out = parse_json(decision);
  if (!out || !out->is_object() || !out->contains("search") || records.size() != batch.size()) return decision;
  Json& search = (*out)["search"];
  const Json drafts = search.is_object() ? search.value("drafts", Json::array()) : Json::array();
  Json order = Json::object();
  const auto add = [&](const char* name, const std::function<std::optional<double>(size_t)>& score) {
    std::vector<double> said, speeds;
    for (size_t i = 0; i < records.size(); ++i) {
      const auto s = score(i);
      if (!s || (!records[i].result.ok() && !records::blames_candidate(records[i].result.status))) continue;
      said.push_back(*s);
      speeds.push_back(records[i].result.ok() && records[i].result.seconds() > 0 ? 1 / records[i].result.seconds() : 0);
    }
    if (said.size() >= kFewest) order[name] = spearman(said, speeds);
  };
  add("draft", [&](size_t i) { return drafts.size() == batch.size() && drafts[i].is_number() ? std::optional(drafts[i].get<double>()) : std::nullopt; });
  add("model", [&](size_t i) { return batch[i].prediction ? std::optional(batch[i].prediction->score) : std::nullopt; });
  if (order.empty()) return decision;
  search["order"] = std::move(order);
  return dump_json(*out);
}

}  // namespace

TaskRun::TaskRun(int number, const SessionTask& task, SessionContext& context)
    : number_(number), task_(task), context_(context), default_s_(kNever), best_s_(kNever), epoch_(context.epoch) {
  const ScopedTimer timer(context.times.search_s);
  make_strategy();
  view_.weight = task.weight;
  view_.flops = task.task.flops;
  view_.tag = similarity_tag(*task.task.dag, task.task.flops);
  view_.capacity = 1 + strategy_->capacity();
}

void TaskRun::make_strategy() {
  const auto points = [this](const std::string& space) { return context_.measurer.points(task_.task, space); };
  strategy_ = tune::make_strategy(context_.strategy, {task_.task, context_.options.tuner_params, context_.options.space, context_.options.seed, points,
                                                      context_.control.stop, &context_.workers, context_.shared_model});
}

std::span<const records::Record> TaskRun::take(int64_t count) {
  const size_t begin = restored_;
  restored_ = std::min(task_.history.size(), begin + static_cast<size_t>(std::max<int64_t>(count, 0)));
  const std::span<const records::Record> taken = std::span(task_.history).subspan(begin, restored_ - begin);
  for (const records::Record& r : taken) account(r);
  if (view_.trials > 1) finals_due_ = std::none_of(task_.history.begin(), task_.history.end(), [](const auto& r) { return r.result.verdict.has_value(); });
  return taken;
}

void TaskRun::restore(const records::Round& round, bool ask) {
  const ScopedTimer timer(context_.times.search_s);
  const std::span<const records::Record> taken = take(round.trials);
  const bool searched = !taken.empty() && !taken[0].candidate.is_default();
  const bool asks = asked_ && ask && searched;
  if (searched) asked_ = asks && is_asked_again(taken, round.planned);
  if (asks && !asked_) {
    pending_.clear();
    make_strategy();
    outcomes_.clear();
    records_.clear();
    learn(std::span(task_.history).first(restored_));
  } else {
    learn(taken);
  }
  end_round(round);
}

bool TaskRun::is_asked_again(std::span<const records::Record> taken, int64_t planned) {
  std::unordered_set<uint64_t> measured;
  for (const records::Record& r : taken) measured.insert(records::identity(r.candidate));
  pending_ = strategy_->propose(static_cast<int>(planned));
  const size_t asked_for = pending_.size();
  std::erase_if(pending_, [&](const Proposal& p) { return measured.contains(records::identity(p.candidate)); });
  return asked_for == pending_.size() + taken.size();
}

void TaskRun::restore_rest() {
  const ScopedTimer timer(context_.times.search_s);
  const std::span<const records::Record> taken = take(static_cast<int64_t>(task_.history.size()));
  if (taken.empty()) return;
  asked_ = false;
  learn(taken);
  view_.history.push_back(best_s_);
}

bool TaskRun::was_cut_off(const records::Round& last) const { return asked_ ? !pending_.empty() : last.trials < last.planned; }

void TaskRun::announce() {
  if (std::exchange(announced_, true)) return;
  std::string names;
  int64_t size = 0;
  for (const SearchedSpace& s : strategy_->spaces()) {
    names += fmt::format("{}{}", names.empty() ? "" : " + ", s.name);
    size += s.size;
  }
  context_.send(TaskStarted{number_, names.empty() ? std::string(records::kDefaultSpace) : names, size});
}

void TaskRun::begin(std::span<const PriorTask> prior) {
  begun_ = true;
  announce();
  if (context_.options.transfer) strategy_->transfer(prior);
}

void TaskRun::learn(std::span<const records::Record> records) {
  std::vector<records::Record> comparables(records.begin(), records.end());
  for (records::Record& r : comparables) r.result = comparable(std::move(r.result));
  strategy_->observe(comparables);
  for (const records::Record& r : comparables) {
    records::Record outcome;
    outcome.candidate.space = r.candidate.space, outcome.prediction = r.prediction, outcome.result = r.result;
    outcomes_.push_back(std::move(outcome));
  }
  if (context_.options.transfer) records_.insert(records_.end(), comparables.begin(), comparables.end());
}

void TaskRun::account(const records::Record& record) {
  ++view_.trials;
  ++by_status_[record.result.status];
  const double seconds = record.result.verified && !record.result.censored ? record.result.decided_s() : kNever;
  if (record.candidate.is_default()) {
    default_done_ = true;
    default_s_ = std::min(default_s_, seconds);
    if (seconds != kNever) default_ = record;
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
    trials_of_best_ = view_.trials;
  }
  view_.exhausted = view_.exhausted || early_stop();
}

records::MeasureResult TaskRun::comparable(records::MeasureResult result) const {
  for (double& s : result.samples_s) s /= scale_;
  return result;
}

bool TaskRun::early_stop() const {
  const int64_t patience = context_.options.early_stopping;
  return patience > 0 && view_.trials - trials_of_best_ >= patience;
}

void TaskRun::end_round(const records::Round& round) {
  if (round.number == ended_.number) {  // it was cut off, and now has the rest
    view_.history.back() = round.best_s;
    view_.spent_s -= ended_.total_s;
  } else {
    view_.history.push_back(round.best_s);
  }
  view_.spent_s += round.total_s;
  ended_ = round;
}

Expected<void> TaskRun::measure_default(records::Round& round) {
  announce();
  context_.send(Phase{number_, "search"});
  std::vector<Proposal> batch;
  {
    const ScopedTimer timer(context_.times.search_s);
    batch.push_back({default_candidate(task_.task), {}});
  }
  TW_CHECK(look_for_drift(1));
  TW_CHECK(run_batch(batch, round));
  if (default_done_) end_round(round);
  return {};
}

Expected<void> TaskRun::run(records::Round& round) {
  std::vector<Proposal> batch = std::exchange(pending_, {});
  {
    const ScopedTimer timer(context_.times.search_s);
    context_.send(Phase{number_, "search"});
    const int64_t more = round.planned - round.trials - static_cast<int64_t>(batch.size());
    if (batch.empty() && more > 0) batch = strategy_->propose(static_cast<int>(more));
    const Json told = strategy_->told();
    if (told.is_object() && told.contains("note")) {
      const auto text = told["note"].get<std::string>();
      context_.send(Note{text});
      TW_CHECK(context_.sink.note("model", text));
    }
    if (!batch.empty()) round.decision = with_search(round.decision, told);
  }
  if (batch.empty()) {
    view_.exhausted = view_.exhausted || !context_.control.stop.stop_requested();
    return {};
  }
  TW_CHECK(look_for_drift(static_cast<int64_t>(batch.size())));
  TW_CHECK(run_batch(batch, round));
  if (round.trials > 0) end_round(round);
  return {};
}

Expected<void> TaskRun::run_batch(const std::vector<Proposal>& batch, records::Round& round) {
  measure::RunOptions run;
  run.incumbent_s = leaders_.empty() ? 0 : leaders_[0].seconds * scale_;
  run.input_seed = context_.options.seed;
  run.weights = timed_weights(context_.options);
  if (context_.options.verify == Verify::best) run.verify_within = FinalOptions().within;  // who may be a finalist
  run.samples = context_.options.repeats;
  run.min_sample_s = context_.options.min_repeat_s;
  run.timeout_s = context_.options.timeout_s;
  BatchBegun begun{number_, {}};
  for (const Proposal& p : batch) {
    records::Candidate told;
    told.space = p.candidate.space, told.index = p.candidate.index, told.config = p.candidate.config;
    begun.candidates.push_back(std::move(told));
  }
  context_.send(std::move(begun));
  std::vector<records::Record> records = context_.measurer.measure(
      task_.task, batch, run, [&](const char* name) { context_.send(Phase{number_, name}); },
      [&](size_t place, measure::Stage stage) { context_.send(CandidateMoved{number_, place, stage}); });
  std::erase_if(records, [](const records::Record& r) { return r.result.status == records::Status::cancelled; });
  if (records.empty()) {
    if (context_.control.stop.stop_requested()) return {};
    return Error(ErrorCode::infrastructure, "Expected results of a batch, found all of them cancelled although nobody asked to stop");
  }
  const int64_t before = view_.trials;
  std::vector<double> bests;
  for (const records::Record& r : records) {
    account(r);
    bests.push_back(best_s_);
  }
  {
    const ScopedTimer timer(context_.times.search_s);
    learn(records);
  }
  finals_due_ = finals_due_ || !batch[0].candidate.is_default();
  round.decision = with_order(round.decision, batch, records);
  round.trials += static_cast<int64_t>(records.size());
  round.best_s = best_s_;
  complete(round);
  TW_CHECK(context_.sink.store(task_.task, records, round));
  for (size_t i = 0; i < records.size(); ++i) {
    context_.send(TrialDone{number_, before + static_cast<int64_t>(i) + 1, records[i], bests[i], context_.times.paused_s});
    context_.infra_in_a_row = records[i].result.status == records::Status::infra ? context_.infra_in_a_row + 1 : 0;
  }
  if (context_.infra_in_a_row >= kMaxInfraInARow) {
    return Error(ErrorCode::infrastructure, fmt::format("The session stopped after {} failures in a row that are not the candidates' fault; the last: {}",
                                                        context_.infra_in_a_row, records.back().result.message));
  }
  return {};
}

Expected<void> TaskRun::look_for_drift(int64_t trials) {
  if (context_.drift.due(trials, steady_s())) {
    const auto now = context_.measurer.references();
    if (!now) return now.error().code == ErrorCode::cancelled ? Expected<void>() : now.error();
    if (context_.drift.observe(*now, steady_s()) == DriftGate::State::new_epoch) {
      ++context_.epoch;
      const std::string text = fmt::format("The machine's speed changed ({}); times before and after are compared through kernels that are measured again",
                                           context_.drift.change());
      context_.send(Note{text});
      TW_CHECK(context_.sink.note("drift", text));
    }
  }
  return epoch_ == context_.epoch ? Expected<void>() : begin_epoch();
}

Expected<void> TaskRun::begin_epoch() {
  epoch_ = context_.epoch;
  if (leaders_.empty()) return {};
  std::vector<records::Candidate> anchors;
  for (size_t i = 0; i < std::min(leaders_.size(), kAnchors); ++i) anchors.push_back(leaders_[i].record.candidate);
  measure::RunOptions run;
  run.samples = kAnchorSamples;
  run.weights = timed_weights(context_.options);
  run.input_seed = context_.options.seed;
  Rng order(run.input_seed);
  const auto once = [](const BatchMeasurer::Results& launches) {
    std::vector<size_t> all(launches[0].empty() ? launches.size() : 0);
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  };
  const auto again = context_.measurer.compete(task_.task, anchors, run, once, order, [&](const char* name) { context_.send(Phase{number_, name}); });
  std::vector<double> changes;
  for (size_t i = 0; i < again.size(); ++i)
    if (again[i][0].ok()) changes.push_back(again[i][0].seconds() / leaders_[i].seconds);
  if (changes.empty()) return {};
  std::nth_element(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2), changes.end());
  scale_ = changes[changes.size() / 2];
  return {};
}

Expected<void> TaskRun::finish() {
  if (!finals_due_) return {};
  FinalOptions options;
  options.finalists = context_.options.finalists;
  options.weights = timed_weights(context_.options);
  options.time_s = std::min(options.time_s, view_.spent_s);  // who was found in a quarter of a minute is not doubted for a whole one
  finals_due_ = false;
  if (options.finalists < 2) return {};
  std::vector<records::Record> finalists;
  for (const Leader& l : leaders_) {
    if (finalists.size() < static_cast<size_t>(options.finalists) && l.seconds <= options.within * leaders_[0].seconds) finalists.push_back(l.record);
  }
  // The lowest has the better number, so it needs a verdict for the first leader to be called best; the default schedule is what all are compared with.
  for (const std::optional<records::Record>* one : {&lowest_, &default_}) {
    const auto same = [&](const records::Record& r) { return records::identity(r.candidate) == records::identity((*one)->candidate); };
    if (*one && std::none_of(finalists.begin(), finalists.end(), same)) finalists.push_back(**one);
  }
  if (finalists.size() < 2) return {};
  TW_CHECK(context_.sink.note("finals", fmt::format("{} [{}]: {} of its trials run against each other", task_.task.name, task_.task.key.substr(0, 8), finalists.size())));
  finalists = run_finals(task_.task, std::move(finalists), best_s_, options, context_.measurer,
                         hash_combine(context_.options.seed, stable_hash(task_.task.key)), [&](const char* name) {
                           context_.send(Phase{number_, name});
                         });
  finals_due_ = finalists.empty();
  if (finals_due_) return {};
  TW_CHECK(context_.sink.settle(task_.task, finalists));
  TW_CHECK(context_.sink.note("settled", task_.task.name));
  best_s_ = kNever;
  for (const records::Record& r : finalists) {
    best_s_ = std::min(best_s_, r.result.decided_s());
    if (default_ && records::identity(r.candidate) == records::identity(default_->candidate)) default_s_ = r.result.decided_s();
  }
  context_.send(FinalsDone{number_, std::move(finalists), best_s_});
  return {};
}

TaskDone TaskRun::done() const {
  return {number_, default_s_, best_s_, view_.trials, by_status_, finals_due_ && context_.options.finalists >= 2};
}

}  // namespace tw::tune
