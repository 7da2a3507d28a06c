// SPDX-License-Identifier: Apache-2.0
#include "engine/records/round_trials.h"

#include "engine/base/json.h"

namespace tw::records {
namespace {

/// `search.drafts` of a round's decision: a score or null for each of its candidates.
std::vector<double> drafts_of(const Round& round) {
  std::vector<double> out;
  const auto decision = parse_json(round.decision);
  if (!decision || !decision->is_object() || !decision->contains("search")) return out;
  const Json& search = (*decision)["search"];
  if (!search.is_object() || !search.contains("drafts") || !search["drafts"].is_array()) return out;
  for (const Json& score : search["drafts"]) out.push_back(score.is_number() ? score.get<double>() : std::numeric_limits<double>::quiet_NaN());
  return out;
}

}  // namespace

std::vector<RoundTrial> round_trials(std::span<const Round> rounds, const std::string& task_key) {
  std::vector<RoundTrial> out;
  for (const Round& round : rounds) {
    if (round.task_key != task_key) continue;
    const std::vector<double> drafts = drafts_of(round);
    for (int64_t i = 0; i < round.trials; ++i) {
      RoundTrial& t = out.emplace_back(RoundTrial{.number = static_cast<int64_t>(out.size()) + 1, .round = round.number});
      if (static_cast<size_t>(i) < drafts.size()) t.draft = drafts[static_cast<size_t>(i)];
    }
  }
  return out;
}

}  // namespace tw::records
