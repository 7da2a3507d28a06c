// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <unordered_set>

#include "engine/base/json.h"
#include "engine/tune/strategies/strategies.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

struct Member {
  std::vector<int> genes;  ///< position in each knob's candidates
  double score = 0;        ///< runs per second
};

class Genetic : public PointSearch {
 public:
  Genetic(const space::ConfigSpace& space, size_t population, double mutation, Rng rng)
      : space_(space), population_(population), mutation_(mutation), rng_(rng) {}

  std::vector<int64_t> propose(int n) override {
    std::vector<int64_t> points;
    while (static_cast<int>(points.size()) < n) {
      if (queue_.empty()) refill();
      if (queue_.empty()) break;
      points.push_back(queue_.front());
      queue_.pop_front();
    }
    return points;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& o : results) {
      // A point known from an earlier run may wait in the queue.
      if (!taken_.insert(o.index).second) std::erase(queue_, o.index);
      if (!o.result.ok() || o.result.seconds() <= 0) continue;
      pool_.push_back({space_.knob_positions(o.index), 1 / o.result.seconds()});
    }
    std::stable_sort(pool_.begin(), pool_.end(), [](const Member& a, const Member& b) { return a.score > b.score; });
    if (pool_.size() > population_) pool_.resize(population_);
  }

 private:
  /// One generation: children of the pool, or random points before there are two parents.
  void refill() {
    for (size_t i = 0; i < population_; ++i) {
      const int64_t point = pool_.size() < 2 ? fresh_point() : child();
      if (point < 0) return;
      taken_.insert(point);
      queue_.push_back(point);
    }
  }

  int64_t child() {
    constexpr int kAttempts = 20;
    for (int i = 0; i < kAttempts; ++i) {
      const size_t a = parent(pool_.size()), b = parent(a);
      const int64_t point = space_.index_of(mutated(crossed(pool_[a].genes, pool_[b].genes)));
      if (!taken_.contains(point) && is_valid_point(space_, point)) return point;
    }
    return fresh_point();
  }

  /// A member other than `except`, in proportion to its score.
  size_t parent(size_t except) {
    double total = 0;
    for (size_t i = 0; i < pool_.size(); ++i) total += i == except ? 0 : pool_[i].score;
    double left = rng_.uniform_real() * total;
    size_t last = except == 0 ? 1 : 0;
    for (size_t i = 0; i < pool_.size(); ++i) {
      if (i == except) continue;
      last = i;
      left -= pool_[i].score;
      if (left < 0) break;
    }
    return last;
  }

  std::vector<int> crossed(const std::vector<int>& a, const std::vector<int>& b) {
    const auto cut = static_cast<std::ptrdiff_t>(rng_.uniform(a.size() + 1));
    std::vector<int> genes(a.begin(), a.begin() + cut);
    genes.insert(genes.end(), b.begin() + cut, b.end());
    return genes;
  }

  std::vector<int> mutated(std::vector<int> genes) {
    for (size_t k = 0; k < genes.size(); ++k) {
      if (rng_.uniform_real() < mutation_) genes[k] = static_cast<int>(rng_.uniform(space_.knobs()[k].candidates.size()));
    }
    return genes;
  }

  int64_t fresh_point() { return fresh_random_point(space_, taken_, rng_); }

  const space::ConfigSpace& space_;
  size_t population_;
  double mutation_;
  Rng rng_;
  std::vector<Member> pool_;           ///< the best seen, best first
  std::deque<int64_t> queue_;          ///< to be proposed
  std::unordered_set<int64_t> taken_;  ///< queued, proposed or observed
};

std::unique_ptr<PointSearch> make_genetic(const PointSearchInput& in) {
  return std::make_unique<Genetic>(in.space, in.params.at("population").get<size_t>(), in.params.at("mutation").get<double>(), in.rng);
}

}  // namespace

StrategyDef genetic_strategy() {
  const Param population = number_param("population", Param::Kind::integer, 32, "points in a generation, and parents kept", 2, 10000);
  const Param mutation = number_param("mutation", Param::Kind::real, 0.1, "probability that a knob of a child is drawn anew", 0, 1);
  return {
      "genetic",
      {population, mutation},
      nullptr,
      make_genetic,
      "Treats a point as a chromosome with one gene per knob. The fastest points seen are the parents; they are drawn in proportion to their speed, joined at "
      "a random knob, and a few genes of the child are drawn anew. It needs no model of the machine. Unlike AutoTVM's GA it keeps the best of all "
      "generations as parents and never measures a point twice.",
      "Holland, \"Adaptation in natural and artificial systems\", 1975; AutoTVM's GATuner (Chen et al., NeurIPS 2018)"};
}

}  // namespace tw::tune
