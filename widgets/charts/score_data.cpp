// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/score_data.h"

#include <cmath>

#include "engine/base/json.h"

namespace tw::widgets {
namespace {

/// `search.drafts` of a round's decision: a score or null for each of its candidates.
std::vector<double> drafts_of(const records::Round& round) {
  std::vector<double> out;
  const auto decision = parse_json(round.decision);
  if (!decision || !decision->is_object() || !decision->contains("search")) return out;
  const Json& search = (*decision)["search"];
  if (!search.is_object() || !search.contains("drafts") || !search["drafts"].is_array()) return out;
  for (const Json& score : search["drafts"]) out.push_back(score.is_number() ? score.get<double>() : std::numeric_limits<double>::quiet_NaN());
  return out;
}

}  // namespace

std::vector<ScoredTrial> scored_trials(const std::vector<records::Round>& rounds, const std::string& task_key, SessionId session, const TrialColumns& trials) {
  std::vector<ScoredTrial> out;
  int64_t before = 0;  // trials of the task in earlier rounds
  for (const records::Round& round : rounds) {
    if (round.task_key != task_key) continue;
    const std::vector<double> drafts = drafts_of(round);
    for (int64_t i = 0; i < round.trials; ++i) {
      const int row = trials.rowOf(session, before + i + 1);
      if (row < 0) continue;  // of another kind, or not read yet
      ScoredTrial t{.number = trials.number(row), .of_session = before + i + 1, .round = round.number, .failed = !trials.timed(row), .upper_bound = trials.censored(row)};
      if (static_cast<size_t>(i) < drafts.size()) t.draft = drafts[static_cast<size_t>(i)];
      t.score = static_cast<double>(trials.predicted(row));
      if (!t.failed) t.seconds = trials.seconds(row);
      if (!std::isnan(t.draft) || !std::isnan(t.score)) out.push_back(t);
    }
    before += round.trials;
  }
  return out;
}

}  // namespace tw::widgets
