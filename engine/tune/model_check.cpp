// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/model_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/cost/metrics.h"

namespace tw::tune {
namespace {

/// Trials of one task that one fit predicted.
struct Group {
  std::vector<double> speeds, seconds;
  std::vector<float> said;
};

}  // namespace

ModelCheck check_models(std::span<const std::span<const records::Record>> tasks) {
  std::vector<Group> groups;
  std::vector<double> labels;
  std::vector<float> scores;
  for (const std::span<const records::Record> trials : tasks) {
    double fastest = 0;
    std::map<std::pair<std::string, int64_t>, Group> by_fit;  // model and space, what it had learned from
    for (const records::Record& r : trials) {
      const double seconds = r.result.ok() ? r.result.seconds() : std::numeric_limits<double>::infinity();
      fastest = std::max(fastest, 1 / seconds);
      if (!r.prediction || (!r.result.ok() && !records::blames_candidate(r.result.status))) continue;
      Group& g = by_fit[{r.prediction->model + " " + r.candidate.space, r.prediction->samples}];
      g.seconds.push_back(seconds);
      g.speeds.push_back(1 / seconds);
      g.said.push_back(static_cast<float>(r.prediction->score));
    }
    for (auto& [fit, g] : by_fit) {
      if (g.said.size() < 2 || fastest <= 0) continue;
      for (size_t i = 0; i < g.said.size(); ++i) {
        labels.push_back(g.speeds[i] / fastest);
        scores.push_back(g.said[i]);
      }
      groups.push_back(std::move(g));
    }
  }
  ModelCheck out;
  out.trials = static_cast<int64_t>(labels.size());
  if (groups.empty()) return out;
  std::vector<cost::JudgedTask> judged;
  for (const Group& g : groups) judged.push_back({1, g.seconds, g.said});
  static_cast<cost::Quality&>(out) = cost::quality(judged, labels, scores);
  return out;
}

std::string model_check_text(const ModelCheck& c) {
  if (c.trials == 0) return "";
  return fmt::format("Model: {} trials predicted, {:.0f} % of pairs in order, its favourite {:.2f} of the best and the best of eight {:.2f}{}", c.trials,
                     100 * c.pairs, c.best_of_1, c.best_of_8, c.scores_are_speeds ? fmt::format(", RMSE {:.3f}, R2 {:.2f}", c.rmse, c.r_squared) : "");
}

}  // namespace tw::tune
