// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/finals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/rank_tests.h"

namespace tw::tune {
namespace {

constexpr int kLooks = 6, kLeastSamples = 3;

using Launches = std::vector<records::MeasureResult>;

bool all_ok(const Launches& launches) {
  return std::all_of(launches.begin(), launches.end(), [](const auto& r) { return r.ok() && r.verified; });
}

/// The probability of an error at one look at one rival.
double tail(int rivals, const FinalOptions& options) { return options.error / (kLooks * rivals); }

}  // namespace

std::vector<int> looks(int rivals, const FinalOptions& options) {
  const double first = rank_differences(tail(rivals, options)), last = std::max<double>(first, options.rounds);
  std::vector<int> out;
  for (int k = 0; k < kLooks; ++k) out.push_back(static_cast<int>(std::lround(first * std::pow(last / first, k / (kLooks - 1.0)))));
  return out;
}

FinalVerdict final_verdict(const Launches& incumbent, const Launches& other, double incumbent_s, int rivals, const FinalOptions& options) {
  if (!all_ok(other)) return {true, {std::numeric_limits<double>::infinity(), 1, 1}};
  std::vector<double> ratios;  // their logarithms, whose signs are as likely
  for (size_t k = 0; k < std::min(incumbent.size(), other.size()); ++k) ratios.push_back(std::log(other[k].seconds() / incumbent[k].seconds()));
  const std::vector<int> when = looks(rivals, options);
  const double asked = std::log(options.certain);
  TW_ASSERT(ratios.size() >= static_cast<size_t>(when.front()), "rounds for a verdict");
  FinalVerdict v;
  for (size_t look = 0; look < when.size() && static_cast<size_t>(when[look]) <= ratios.size() && !v.settled; ++look) {
    const SignedRanks r = signed_ranks(std::span(ratios).first(static_cast<size_t>(when[look])), tail(rivals, options));
    const bool faster = r.high < asked;
    v.settled = faster || r.low > asked || r.middle > asked / 2 || look + 1 == when.size();
    v.verdict = {incumbent_s * std::exp(faster ? r.middle : std::max(r.middle, 0.0)), std::exp(r.low), std::exp(r.high)};
  }
  return v;
}

std::vector<records::Record> run_finals(const records::Task& task, std::vector<records::Record> finalists, double incumbent_s, const FinalOptions& options,
                                        BatchMeasurer& measurer, uint64_t seed, const std::function<void(const char*)>& phase) {
  std::vector<records::Candidate> candidates;
  for (const records::Record& r : finalists) candidates.push_back(r.candidate);
  measure::RunOptions run;
  run.samples = static_cast<int>(std::clamp(options.process_s / incumbent_s, double{kLeastSamples}, double(options.samples)));
  run.weights = options.weights;
  run.input_seed = seed;
  Rng rng(seed);
  const int rivals = std::max(1, static_cast<int>(finalists.size()) - 1);
  const std::vector<int> when = looks(rivals, options);
  const double end = steady_s() + options.time_s;
  std::vector<FinalVerdict> verdicts(finalists.size());
  size_t incumbent = 0;
  const auto next = [&](const BatchMeasurer::Results& launches) {
    std::vector<size_t> running;
    size_t rounds = 0;
    for (const Launches& l : launches) rounds = std::max(rounds, l.size());
    const auto stands = [&](const Launches& l) { return l.size() == rounds && all_ok(l); };
    incumbent = static_cast<size_t>(std::find_if(launches.begin(), launches.end(), stands) - launches.begin());
    if (incumbent == launches.size()) {  // who still ran failed
      incumbent = static_cast<size_t>(std::find_if(launches.begin(), launches.end(), all_ok) - launches.begin());
      return running;
    }
    const bool look = std::find(when.begin(), when.end(), static_cast<int>(rounds)) != when.end();
    for (size_t i = 0; i < launches.size(); ++i) {
      if (i == incumbent || launches[i].size() < rounds) continue;  // it was settled before
      if (look || !all_ok(launches[i])) verdicts[i] = final_verdict(launches[incumbent], launches[i], 1, rivals, options);
      if (!verdicts[i].settled) running.push_back(i);
    }
    if (running.empty() || (look && steady_s() > end)) return std::vector<size_t>();
    running.push_back(incumbent);
    return running;
  };
  const BatchMeasurer::Results launches = measurer.compete(task, candidates, run, next, rng, phase);
  if (launches.empty() || incumbent == launches.size()) return {};
  if (incumbent > 0) incumbent_s = finalists[incumbent].result.seconds();
  for (size_t i = 0; i < finalists.size(); ++i)
    finalists[i].result.verdict =
        i == incumbent ? records::Verdict{incumbent_s, 1, 1} : final_verdict(launches[incumbent], launches[i], incumbent_s, rivals, options).verdict;
  return finalists;
}

}  // namespace tw::tune
