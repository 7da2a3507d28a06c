// SPDX-License-Identifier: Apache-2.0
#include "engine/base/paired_ratio.h"

#include <algorithm>

#include "engine/base/assert.h"

namespace tw {
namespace {

constexpr int kResamples = 1000;
constexpr double kTail = 0.025;

/// Parts with their samples in ascending order, each with its round, so that the quartiles of any draw of rounds are found by counting.
class SortedParts {
 public:
  explicit SortedParts(const PartTimes& parts) {
    for (const std::vector<double>& part : parts) {
      std::vector<Sample>& sorted = parts_.emplace_back();
      for (size_t round = 0; round < part.size(); ++round) sorted.push_back({part[round], round});
      std::sort(sorted.begin(), sorted.end(), [](const Sample& x, const Sample& y) { return x.seconds < y.seconds; });
    }
  }

  /// Sum over the parts of their lower quartiles, if each round was drawn so often; as many draws as rounds.
  double time(const std::vector<size_t>& draws) const {
    double total = 0;
    for (const std::vector<Sample>& sorted : parts_) {
      size_t i = 0;
      for (size_t seen = draws[sorted[0].round]; seen <= draws.size() / 4; seen += draws[sorted[i].round]) ++i;
      total += sorted[i].seconds;
    }
    return total;
  }

 private:
  struct Sample {
    double seconds;
    size_t round;
  };
  std::vector<std::vector<Sample>> parts_;
};

void check(const PairedRounds& p) {
  TW_ASSERT(!p.a.empty() && !p.b.empty() && !p.a[0].empty(), "rounds of two programs");
  for (const PartTimes* parts : {&p.a, &p.b})
    for (const auto& part : *parts) TW_ASSERT(part.size() == p.a[0].size(), "as many rounds of every part");
}

}  // namespace

double median_of(std::vector<double> values) {
  TW_ASSERT(!values.empty(), "the median of nothing");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double lower_quartile_of(std::vector<double> values) {
  TW_ASSERT(!values.empty(), "the lower quartile of nothing");
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double parts_time(const PartTimes& parts) {
  TW_ASSERT(!parts.empty() && !parts[0].empty(), "times of parts");
  return SortedParts(parts).time(std::vector<size_t>(parts[0].size(), 1));
}

PairedRatio paired_ratio(std::span<const double> a, std::span<const double> b, Rng& rng) {
  const PairedRounds one{{{a.begin(), a.end()}}, {{b.begin(), b.end()}}};
  return paired_ratio(std::span(&one, 1), rng);
}

PairedRatio paired_ratio(std::span<const PairedRounds> processes, Rng& rng) {
  TW_ASSERT(!processes.empty(), "processes to compare two programs in");
  struct Sorted {
    SortedParts a, b;
    size_t rounds;
    double ratio(const std::vector<size_t>& draws) const { return b.time(draws) / a.time(draws); }
  };
  std::vector<Sorted> sorted;
  std::vector<double> of_processes, ratios;
  for (const PairedRounds& p : processes) {
    check(p);
    sorted.push_back({SortedParts(p.a), SortedParts(p.b), p.a[0].size()});
    of_processes.push_back(sorted.back().ratio(std::vector<size_t>(p.a[0].size(), 1)));
  }
  const double ratio = median_of(of_processes);
  std::vector<size_t> draws;
  for (int k = 0; k < kResamples; ++k) {
    for (double& r : of_processes) {
      const Sorted& p = sorted[sorted.size() == 1 ? 0 : rng.uniform(sorted.size())];
      draws.assign(p.rounds, 0);
      for (size_t i = 0; i < p.rounds; ++i) ++draws[rng.uniform(p.rounds)];
      r = p.ratio(draws);
    }
    ratios.push_back(median_of(of_processes));
  }
  std::sort(ratios.begin(), ratios.end());
  const auto tail = static_cast<size_t>(kTail * kResamples);
  return {ratio, ratios[tail], ratios[ratios.size() - 1 - tail]};
}

}  // namespace tw
