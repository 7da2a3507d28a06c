// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/prediction_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "engine/base/rank_correlation.h"

namespace tw::widgets {
namespace {

/// The first `top` points, the highest value first.
std::set<size_t> highest(const std::vector<double>& values, int top) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  return {order.begin(), order.begin() + top};
}

}  // namespace

std::vector<PredictionRound> predictionRounds(const TrialColumns& trials) {
  std::vector<PredictionRound> rounds;
  std::map<std::pair<uint32_t, int>, size_t> at;
  for (int row = 0; row < trials.size(); ++row) {
    if (trials.predictedAfter(row) < 0) continue;
    const auto [it, fresh] = at.emplace(std::pair(trials.spaceId(row), trials.predictedAfter(row)), rounds.size());
    if (fresh) {
      rounds.emplace_back();
      rounds.back().space = trials.spaceId(row), rounds.back().learned = trials.predictedAfter(row);
    }
    PredictionRound& round = rounds[it->second];
    if (!trials.timed(row) || !(trials.seconds(row) > 0))
      ++round.failed;
    else
      round.points.push_back({trials.number(row), static_cast<double>(trials.predicted(row)), 1 / trials.seconds(row)});
  }
  for (PredictionRound& round : rounds) {
    if (round.points.empty()) continue;
    std::vector<double> said, measured;
    for (const auto& p : round.points) said.push_back(p.score), measured.push_back(p.per_second);
    round.spearman = spearman(said, measured);
    round.kendall = kendall(said, measured);
    round.top = std::max(1, static_cast<int>(round.points.size()) / 4);
    const std::set<size_t> fastest = highest(measured, round.top), chosen = highest(said, round.top);
    const auto both = std::count_if(chosen.begin(), chosen.end(), [&](size_t i) { return fastest.contains(i); });
    round.recall = static_cast<double>(both) / round.top;
  }
  return rounds;
}

}  // namespace tw::widgets
