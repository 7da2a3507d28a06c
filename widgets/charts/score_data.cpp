// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/score_data.h"

#include <cmath>

#include "engine/records/round_trials.h"

namespace tw::widgets {

std::vector<ScoredTrial> scored_trials(const std::vector<records::Round>& rounds, const std::string& task_key, SessionId session, const TrialColumns& trials) {
  std::vector<ScoredTrial> out;
  for (const records::RoundTrial& said : records::round_trials(rounds, task_key)) {
    const int row = trials.rowOf(session, said.number);
    if (row < 0) continue;  // of another kind, or not read yet
    ScoredTrial t{.number = trials.number(row), .of_session = said.number, .round = said.round, .draft = said.draft, .failed = !trials.timed(row), .upper_bound = trials.censored(row)};
    t.score = static_cast<double>(trials.predicted(row));
    if (!t.failed) t.seconds = trials.seconds(row);
    if (!std::isnan(t.draft) || !std::isnan(t.score)) out.push_back(t);
  }
  return out;
}

}  // namespace tw::widgets
