// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/annealing.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

/// The best `count` distinct points.
class Leaders {
 public:
  explicit Leaders(size_t count) : count_(count) {}

  /// True if the point is among the best now and was not before.
  bool offer(int64_t point, float score) {
    const std::pair<float, int64_t> entry(-score, point);
    if (best_.size() == count_ && !(entry < *best_.rbegin())) return false;
    if (!best_.insert(entry).second) return false;
    if (best_.size() > count_) best_.erase(std::prev(best_.end()));
    return true;
  }
  std::vector<ScoredPoint> descending() const {
    std::vector<ScoredPoint> out;
    for (const auto& [negated, point] : best_) out.push_back({point, -negated});
    return out;
  }

 private:
  size_t count_;
  std::set<std::pair<float, int64_t>> best_;
};

/// Scores of one run, asked for once.
class Scores {
 public:
  explicit Scores(const Annealing::Score& score) : score_(score) {}

  std::vector<float> of(const std::vector<int64_t>& points) {
    std::vector<int64_t> unknown;
    for (const int64_t p : points) {
      if (known_.emplace(p, 0.0F).second) unknown.push_back(p);
    }
    if (!unknown.empty()) {
      const std::vector<float> fresh = score_(unknown);
      TW_ASSERT(fresh.size() == unknown.size(), "a score for every point");
      for (size_t i = 0; i < unknown.size(); ++i) known_[unknown[i]] = fresh[i];
    }
    std::vector<float> out;
    for (const int64_t p : points) out.push_back(known_.at(p));
    return out;
  }

 private:
  const Annealing::Score& score_;
  std::unordered_map<int64_t, float> known_;
};

}  // namespace

int64_t Annealing::neighbour(int64_t point) {
  std::vector<int> positions = space_.knob_positions(point);
  std::vector<size_t> free;
  for (size_t k = 0; k < positions.size(); ++k) {
    if (space_.knobs()[k].candidates.size() > 1) free.push_back(k);
  }
  if (free.empty()) return point;
  const size_t k = free[rng_.uniform(free.size())];
  // One of the other values, each as likely.
  const auto drawn = static_cast<int>(rng_.uniform(space_.knobs()[k].candidates.size() - 1));
  positions[k] = drawn < positions[k] ? drawn : drawn + 1;
  return space_.index_of(positions);
}

std::vector<ScoredPoint> Annealing::maximise(int count, const Score& score, const std::unordered_set<int64_t>& taken, StopToken stop) {
  if (count <= 0 || space_.num_points() == 0) return {};
  Scores scores(score);
  Leaders leaders(static_cast<size_t>(count));
  const auto offer = [&](int64_t point, float s) { return !taken.contains(point) && is_valid_point(space_, point) && leaders.offer(point, s); };
  if (space_.is_restricted() && space_.num_points() <= int64_t{options_.walkers} * options_.iterations) {
    // The neighbours of a point are mostly not among the few that are left: all of these are no more to look at.
    std::vector<int64_t> all;
    for (int64_t i = 0; i < space_.num_points(); ++i) all.push_back(space_.point(i));
    const std::vector<float> found = scores.of(all);
    for (size_t i = 0; i < all.size(); ++i) offer(all[i], found[i]);
    return leaders.descending();
  }
  const auto walkers = static_cast<size_t>(std::min<int64_t>(options_.walkers, space_.num_points()));
  while (walkers_.size() < walkers) walkers_.push_back(space_.point(rng_.range(0, space_.num_points() - 1)));
  std::vector<float> current = scores.of(walkers_);
  for (size_t w = 0; w < walkers_.size(); ++w) offer(walkers_[w], current[w]);
  const double cooling = (options_.hot - options_.cold) / (options_.iterations + 1);
  double temperature = options_.hot;
  int last_change = 0;
  for (int i = 0; i < options_.iterations && i - last_change < options_.patience && !stop.stop_requested(); ++i) {
    std::vector<int64_t> moved;
    for (const int64_t p : walkers_) moved.push_back(neighbour(p));
    const std::vector<float> next = scores.of(moved);
    for (size_t w = 0; w < walkers_.size(); ++w) {
      const double gain = (static_cast<double>(next[w]) - current[w]) / (temperature + 1e-5);
      if (rng_.uniform_real() <= std::exp(std::min(gain, 1.0))) {
        walkers_[w] = moved[w];
        current[w] = next[w];
      }
      if (offer(moved[w], next[w])) last_change = i;
    }
    temperature -= cooling;
  }
  return leaders.descending();
}

}  // namespace tw::tune
