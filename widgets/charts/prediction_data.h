// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "widgets/tuning/trial_store.h"

namespace tw::widgets {

/// What one cost model said of the trials that it chose, against what was measured.
struct PredictionRound {
  struct Point {
    int64_t number = 0;     ///< of the trial
    double score = 0;       ///< predicted, higher is better
    double per_second = 0;  ///< measured: runs a second; an upper bound for a trial that was stopped early as clearly slow
  };
  uint32_t space = 0;  ///< TrialColumns::text
  int learned = 0;     ///< trials of the space that the model had learned from
  std::vector<Point> points;
  int failed = 0;  ///< predicted trials without a time; they are no points
  double spearman = 0, kendall = 0;
  int top = 0;        ///< a quarter of the points, at least one
  double recall = 0;  ///< share of the `top` fastest among the `top` predicted best; of ties the earlier trial comes first
};

/// One a model, in the order of their first trials. Scores of different models have nothing to do with each other. Any thread.
std::vector<PredictionRound> predictionRounds(const TrialColumns& trials);

}  // namespace tw::widgets
