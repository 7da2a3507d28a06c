// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "engine/records/record.h"

namespace tw::tune {

/// How well the cost models of a session said how fast their candidates are, over all trials that were predicted and ran or failed. Trials are compared with those
/// of the same task that the same fit predicted: scores of different fits have nothing to do with each other.
struct ModelCheck {
  int64_t trials = 0;     ///< predicted ones in groups of at least two; 0: the rest means nothing
  double pairs = 0;       ///< share of the pairs in a group that are in the right order, averaged over all pairs
  double best_of_1 = 0;   ///< the best time of a group ÷ that of its favourite, over the groups' best times
  double best_of_8 = 0;   ///< the same of eight favourites
  double rmse = 0;        ///< of scores as speeds relative to the task's fastest trial
  double r_squared = 0;   ///< of the same
};

/// `tasks`: the records of each.
ModelCheck check_models(std::span<const std::span<const records::Record>> tasks);
/// One line for people; empty if nothing was predicted.
std::string model_check_text(const ModelCheck& c);

}  // namespace tw::tune
