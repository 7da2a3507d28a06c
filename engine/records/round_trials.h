// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/records/round.h"

namespace tw::records {

/// What a session's rounds say of one trial.
struct RoundTrial {
  int64_t number = 0;  ///< from 1 on in the session, of the task
  int64_t round = 0;
  double draft = std::numeric_limits<double>::quiet_NaN();  ///< what the draft's formula said of it before, higher is better; NaN if nothing did
};
/// Of a task, ascending. `rounds` are all of the session: a task's trials lie in the order of its rounds.
std::vector<RoundTrial> round_trials(std::span<const Round> rounds, const std::string& task_key);

}  // namespace tw::records
