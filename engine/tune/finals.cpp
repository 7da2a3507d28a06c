// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/finals.h"

#include <algorithm>
#include <limits>

namespace tw::tune {
namespace {

constexpr double kCredible = 0.5;

/// Samples of two kernels from the same rounds, paired by position; disturbed pairs are left out as long as others remain.
void add_pairs(const records::MeasureResult& a, const records::MeasureResult& b, bool flagged, std::vector<double>& x, std::vector<double>& y) {
  const auto disturbed = [](const records::MeasureResult& r, size_t i) { return i < r.sample_flags.size() && r.sample_flags[i]; };
  for (size_t i = 0; i < std::min(a.samples_s.size(), b.samples_s.size()); ++i) {
    if (!flagged && (disturbed(a, i) || disturbed(b, i))) continue;
    x.push_back(a.samples_s[i]);
    y.push_back(b.samples_s[i]);
  }
}

using Launches = std::vector<records::MeasureResult>;

bool all_ok(const Launches& launches) {
  return std::all_of(launches.begin(), launches.end(), [](const auto& r) { return r.ok() && r.verified; });
}

}  // namespace

records::Verdict final_verdict(const Launches& incumbent, const Launches& other, double incumbent_s, const FinalOptions& options, Rng& rng) {
  if (!all_ok(other)) return {std::numeric_limits<double>::infinity(), 1, 1};
  std::vector<double> x, y;
  for (const bool flagged : {false, true}) {
    if (!x.empty()) break;
    for (size_t k = 0; k < other.size(); ++k) add_pairs(incumbent[k], other[k], flagged, x, y);
  }
  const PairedRatio r = paired_ratio(x, y, rng);
  // All were within some percent of each other before: if one now seems twice as fast, the incumbent was disturbed for all of its samples.
  const bool faster = r.high < options.certain && r.ratio > kCredible;
  return {incumbent_s * (faster ? r.ratio : std::max(r.ratio, 1.0)), r.low, r.high};
}

std::vector<records::Record> run_finals(const records::Task& task, std::vector<records::Record> finalists, double incumbent_s, const FinalOptions& options,
                                        BatchMeasurer& measurer, uint64_t seed, const std::function<void(const char*)>& phase) {
  std::vector<records::Candidate> candidates;
  for (const records::Record& r : finalists) candidates.push_back(r.candidate);
  measure::RunOptions run;
  run.samples = options.samples;
  run.weights = options.weights;
  run.input_seed = seed;
  Rng rng(seed);
  const std::vector<Launches> launches = measurer.compete(task, candidates, run, options.launches, rng, phase);
  const auto incumbent = static_cast<size_t>(std::find_if(launches.begin(), launches.end(), all_ok) - launches.begin());
  if (incumbent == launches.size()) return {};
  if (incumbent > 0) incumbent_s = finalists[incumbent].result.seconds();
  for (size_t i = 0; i < finalists.size(); ++i) {
    const bool first = i == incumbent;
    finalists[i].result.verdict = first ? records::Verdict{incumbent_s, 1, 1} : final_verdict(launches[incumbent], launches[i], incumbent_s, options, rng);
  }
  return finalists;
}

}  // namespace tw::tune
