// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/learner/program/forward.h"

namespace tw::learner {

struct TrainingData {
  Candidates candidates;
  std::vector<float> labels;
  std::vector<uint32_t> tasks;
};

/// Told after every batch, and at the end of an epoch with its loss; false: training ends here, with what was learned.
using Tell = std::function<bool(int epoch, std::optional<double> loss)>;

/// Changes `weights`. Returns the loss of each epoch.
std::vector<double> train(Weights& weights, const TrainingData& data, const FitOptions& options, const Tell& tell);

/// Scores of all candidates, some thousand at a time.
std::vector<float> scores(Weights& weights, const Candidates& candidates, Norm norm);

}  // namespace tw::learner
