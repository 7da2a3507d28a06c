// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/measure_batch.h"
#include "engine/base/clock.h"

#include <chrono>

namespace tw::tune {
double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

ScopedTimer::ScopedTimer(double& total) : total_(total), start_(steady_s()) {}
ScopedTimer::~ScopedTimer() { total_ += steady_s() - start_; }

std::vector<records::Record> BatchMeasurer::measure(const records::Task& task, const std::vector<Proposal>& candidates,
                                                    const measure::RunOptions& options, const std::function<void(const char*)>& phase,
                                                    const measure::StageSink& moved) {
  std::vector<records::Record> records(candidates.size());
  std::vector<size_t> chosen;
  for (size_t i = 0; i < candidates.size(); ++i) {
    records[i].task_key = task.key;
    records[i].candidate = candidates[i].candidate;
    records[i].prediction = candidates[i].prediction;
    if (candidates[i].refused.empty()) {
      chosen.push_back(i);
    } else {
      records[i].result.status = records::Status::lower_fail;
      records[i].result.message = candidates[i].refused;
    }
  }
  measure_once(task, chosen, records, options, phase, moved);
  std::erase_if(chosen, [&](size_t i) { return records[i].result.status != records::Status::infra; });
  if (!chosen.empty() && !stop_.stop_requested()) measure_once(task, chosen, records, options, phase, moved);
  for (records::Record& r : records) {
    if (r.result.timestamp_s == 0) r.result.timestamp_s = unix_now_s();
  }
  return records;
}

BatchMeasurer::Results BatchMeasurer::compete(const records::Task& task, const std::vector<records::Candidate>& candidates, measure::RunOptions options,
                                               const std::function<std::vector<size_t>(const Results&)>& next, Rng& order,
                                               const std::function<void(const char*)>& phase) {
  constexpr uint64_t kSeeds = 3;  // of each a reference is computed once
  std::vector<measure::BuildOutcome> builds;
  {
    phase("build");
    const ScopedTimer timer(times_.build_s);
    builds = builder_.build_finalists(task, candidates, stop_);
  }
  phase("finals");
  const ScopedTimer timer(times_.measure_s);
  Results results(candidates.size());
  const uint64_t seed = options.input_seed;
  std::vector<size_t> turn = next(results);
  for (uint64_t round = 0; !turn.empty(); ++round, turn = next(results)) {
    options.input_seed = seed + round % kSeeds;
    options.launch = round / kSeeds;
    options.magnitudes = round % kSeeds + 1 == kSeeds ? measure::Magnitudes::uneven : measure::Magnitudes::even;
    for (size_t i = turn.size(); i > 1; --i) std::swap(turn[i - 1], turn[order.uniform(i)]);
    for (const size_t i : turn) {
      if (stop_.stop_requested()) return {};
      results[i].push_back(runner_.run(task, {&builds[i], 1}, options, stop_)[0]);
      if (results[i].back().status == records::Status::cancelled) return {};  // stopped in its midst: nothing was found out about it
    }
  }
  return results;
}

void BatchMeasurer::measure_once(const records::Task& task, const std::vector<size_t>& chosen, std::vector<records::Record>& records,
                                 const measure::RunOptions& options, const std::function<void(const char*)>& phase, const measure::StageSink& moved) {
  if (chosen.empty()) return;
  std::vector<records::Candidate> candidates;
  for (size_t i : chosen) candidates.push_back(records[i].candidate);
  std::vector<measure::BuildOutcome> outcomes;
  {
    phase("build");
    const ScopedTimer timer(times_.build_s);
    if (moved) builder_.watch([&](size_t i, measure::Stage stage) { moved(chosen[i], stage); });
    outcomes = builder_.build(task, candidates, stop_);
    builder_.watch({});
  }
  TW_ASSERT(outcomes.size() == chosen.size(), "a builder returned another number of outcomes than it was given candidates");
  std::vector<size_t> built;
  std::vector<measure::BuildOutcome> runnable;
  for (size_t k = 0; k < chosen.size(); ++k) {
    records::MeasureResult& result = records[chosen[k]].result;
    result = {};
    result.status = outcomes[k].status;
    result.message = outcomes[k].message;
    result.build_s = outcomes[k].seconds;
    if (outcomes[k].status != records::Status::ok) continue;
    built.push_back(k);
    runnable.push_back(std::move(outcomes[k]));
  }
  if (runnable.empty()) return;
  std::vector<records::MeasureResult> results;
  {
    phase("measure");
    const ScopedTimer timer(times_.measure_s);
    if (moved) runner_.watch([&](size_t i, measure::Stage stage) { moved(chosen[built[i]], stage); });
    results = runner_.run(task, runnable, options, stop_);
    runner_.watch({});
  }
  TW_ASSERT(results.size() == runnable.size(), "a runner returned another number of results than it was given builds");
  for (size_t k = 0; k < built.size(); ++k) {
    records::MeasureResult& result = records[chosen[built[k]]].result;
    const double build_s = result.build_s;
    result = std::move(results[k]);
    result.build_s = build_s;
  }
}

}  // namespace tw::tune
