// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/network_race.h"

#include <algorithm>
#include <numeric>

#include "engine/base/paired_ratio.h"
#include "engine/measure/limits.h"
#include "engine/measure/network_run.h"
#include "engine/runtime/object_loader.h"
#include "engine/target/target.h"

namespace tw::measure {

NetworkRace::NetworkRace(const NetworkJob& job, std::vector<ExecutablePtr> variants) : job_(job), variants_(std::move(variants)), rng_(job.seed) {}

Expected<void> NetworkRace::load(const MakeExecutor& make, bool apart) {
  apart_ = apart;
  executors_.resize(variants_.size());
  for (const size_t v : random_order()) {  // who is loaded first gets other memory
    TW_TRY(executors_[v], make(variants_[v]));
    TW_CHECK(executors_[v]->set_inputs(random_inputs(*variants_[v], job_.seed)));
  }
  return {};
}

Expected<void> NetworkRace::load_here() {
  TW_TRY(const Target target, parse_target(variants_[0]->target));
  keep_last_processors(target.cores);
  const auto pool = std::make_shared<runtime::ThreadPool>(runtime::ThreadPool::with_processors(target.cores));
  return load(
      [&](const ExecutablePtr& variant) -> Expected<std::unique_ptr<runtime::GraphExecutor>> {
        TW_TRY(auto module, runtime::load_object(variant->artifact.object));
        return runtime::GraphExecutor::create(variant, std::move(module), pool);
      },
      false);
}

Expected<NetworkTimes> NetworkRace::run() {
  NetworkTimes times;
  times.variants.resize(variants_.size());
  double first_s = 0;
  for (size_t v = 0; v < variants_.size(); ++v) {
    times.variants[v].calls_s.resize(variants_[v]->calls.size());
    woke_.emplace_back(variants_[v]->calls.size(), 0);
    TW_CHECK(executors_[v]->run());
    TW_TRY(const double seconds, executors_[v]->run());
    first_s = std::max(first_s, seconds);
    if (!job_.outputs) continue;
    TW_TRY(times.variants[v].outputs, executors_[v]->outputs());
  }
  const int runs = std::clamp(static_cast<int>(job_.block_s / std::max(first_s, 1e-9)), 1, kMostRuns);
  for (int round = 0; round < job_.rounds; ++round)
    for (const size_t v : random_order()) TW_CHECK(block(v, runs, times.variants[v]));
  for (size_t v = 0; v < variants_.size(); ++v)
    for (const int woke : woke_[v]) times.variants[v].woke.push_back(2 * woke > profiled_[v]);
  return times;
}

std::vector<size_t> NetworkRace::random_order() {
  std::vector<size_t> order(variants_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.uniform(i)]);
  return order;
}

/// Runs of one variant, after one that brings into the caches what stays there; in a run as long as a block, everything comes and goes anyway.
Expected<void> NetworkRace::block(size_t v, int runs, VariantTimes& times) {
  runtime::GraphExecutor& executor = *executors_[v];
  if (runs > 1) TW_CHECK(executor.run());
  std::vector<std::vector<double>> calls(times.calls_s.size());
  std::vector<double> seconds_of;
  std::vector<runtime::CallTime> profile;
  profiled_.resize(variants_.size(), 0);
  for (int i = 0; i < runs; ++i) {
    TW_TRY(const double seconds, executor.run(apart_ ? nullptr : &profile));
    seconds_of.push_back(seconds);
    if (!apart_) add_profile(v, profile, calls);
  }
  if (apart_) {  // the times of a GPU's calls are taken in another way than those of its runs
    TW_CHECK(executor.run(&profile));
    add_profile(v, profile, calls);
  }
  times.runs_s.push_back(lower_quartile_of(std::move(seconds_of)));
  for (size_t c = 0; c < calls.size(); ++c) times.calls_s[c].push_back(lower_quartile_of(std::move(calls[c])));
  return {};
}

void NetworkRace::add_profile(size_t v, const std::vector<runtime::CallTime>& profile, std::vector<std::vector<double>>& calls) {
  for (const runtime::CallTime& t : profile) {
    calls[static_cast<size_t>(t.call)].push_back(t.seconds);
    woke_[v][static_cast<size_t>(t.call)] += t.woke;
  }
  ++profiled_[v];
}

}  // namespace tw::measure
