// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/records/round.h"

/// From what rounds say of themselves (records::Round::decision) to bars that stand on each other, or to curves, one column a round. No Qt.
namespace tw::widgets {

/// What a column is made of.
enum class RoundTerms {
  gains,     ///< seconds of the network that the scheduler expects a round of each task to save
  chosen,    ///< candidates of the round by what made them
  mutations, ///< children that could be measured, by the mutation that made them
  population, ///< schedules that had not been met before, by generation
  learning,  ///< curves: the loss, learning rate and momentum of each fit of the model
  order      ///< curves: how well the drafts' and the model's scores put the round's candidates into the order of their speeds, from -1 to 1
};
/// Whether they are curves rather than parts of a sum.
inline bool are_curves(RoundTerms terms) { return terms == RoundTerms::learning || terms == RoundTerms::order; }

struct RoundColumn {
  int64_t number = 0;           ///< of the round
  std::string task_key;         ///< that the round went to
  std::vector<double> values;   ///< of each series; of bars not below 0, of curves NaN where a round has none
  std::vector<std::string> details;  ///< of each series: more numbers, as `name value` pairs; may be empty
};
struct RoundStack {
  std::vector<std::string> series;  ///< keys of tasks, names of mutations, numbers of generations
  std::vector<RoundColumn> columns;
};

/// Rounds that say nothing of it have no column. Beyond `most` series the smallest ones in sum are added up as the last one, named kOtherTerms.
RoundStack round_stack(const std::vector<records::Round>& rounds, RoundTerms terms, size_t most = 8);
inline constexpr const char* kOtherTerms = "others";

}  // namespace tw::widgets
