// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "engine/cost/metrics.h"
#include "engine/records/record.h"

namespace tw::tune {

/// How well the cost models of a session said how fast their candidates are, over all trials that were predicted and ran or failed. Trials are compared with those
/// of the same task that the same fit predicted: scores of different fits have nothing to do with each other.
struct ModelCheck : cost::Quality {
  bool scores_are_speeds = true;  ///< rmse and r_squared say something only then: models that learned orders give scores without a scale
  int64_t trials = 0;  ///< predicted ones in groups of at least two; 0: the rest means nothing
};

/// `tasks`: the records of each.
ModelCheck check_models(std::span<const std::span<const records::Record>> tasks);
/// One line for people; empty if nothing was predicted.
std::string model_check_text(const ModelCheck& c);

}  // namespace tw::tune
