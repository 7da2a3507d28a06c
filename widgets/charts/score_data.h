// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "engine/records/round.h"
#include "widgets/tuning/trial_store.h"

/// What was said of each candidate before it was measured, beside what was measured then. No Qt.
namespace tw::widgets {

/// Scores are better where they are higher, and NaN where nobody said one.
struct ScoredTrial {
  int64_t number = 0;           ///< TrialColumns::number()
  int64_t of_session = 0;       ///< its number in the session
  int64_t round = 0;
  double draft = std::numeric_limits<double>::quiet_NaN();  ///< by the draft's formula
  double score = std::numeric_limits<double>::quiet_NaN();  ///< by the model that verifies drafts
  bool failed = false;
  bool upper_bound = false;     ///< stopped early: it is slower than `seconds`
  double seconds = std::numeric_limits<double>::infinity();
};

/// Those trials of a task in a session that have a score of either kind, ascending. `rounds` are all of the session: a task's trials lie in the order of its rounds.
std::vector<ScoredTrial> scored_trials(const std::vector<records::Round>& rounds, const std::string& task_key, SessionId session, const TrialColumns& trials);

}  // namespace tw::widgets
