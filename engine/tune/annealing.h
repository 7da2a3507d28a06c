// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

#include "engine/base/rng.h"
#include "engine/base/stop_token.h"
#include "engine/space/config_space.h"

namespace tw::tune {

struct AnnealingOptions {
  int walkers = 128;         ///< points that walk at the same time
  int iterations = 500;      ///< steps of each at most
  int patience = 50;         ///< steps without a change among the best found, after which the walk ends
  double hot = 1, cold = 0;  ///< temperature at the first and after the last step
};

struct ScoredPoint {
  int64_t point = -1;
  float score = 0;
};

/// Simulated annealing over the points of a space: every walker changes one knob at a time and keeps the change with the probability
/// exp(min((new - old) / temperature, 1)). The walkers stay where they are between runs.
/// Source: Kirkpatrick, Gelatt, Vecchi, Science 1983; schedule and constants of AutoTVM 0.9's SimulatedAnnealingOptimizer.
class Annealing {
 public:
  Annealing(const space::ConfigSpace& space, AnnealingOptions options, Rng rng) : space_(space), options_(options), rng_(rng) {}

  using Score = std::function<std::vector<float>(std::span<const int64_t> points)>;
  /// Up to `count` of the highest-scored valid points met that are not in `taken`, best first. `score` is asked once for each point of a run.
  /// Cost: at most walkers x (iterations + 1) scores. A stop ends it with what was found.
  std::vector<ScoredPoint> maximise(int count, const Score& score, const std::unordered_set<int64_t>& taken, StopToken stop = {});

 private:
  int64_t neighbour(int64_t point);

  const space::ConfigSpace& space_;
  AnnealingOptions options_;
  Rng rng_;
  std::vector<int64_t> walkers_;
};

}  // namespace tw::tune
