// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "engine/space/sketch/mutate.h"

namespace tw::space {

namespace {

/// Whether two steps are equal but for the numbers that parents may exchange.
bool alike(const schedule::Step& a, const schedule::Step& b) {
  if (a.index() != b.index()) return false;
  if (const auto* split = std::get_if<schedule::SplitStep>(&a)) {
    const auto& other = std::get<schedule::SplitStep>(b);
    return split->stage == other.stage && split->iter == other.iter && split->lengths.size() == other.lengths.size() && split->from_inside == other.from_inside;
  }
  if (const auto* unroll = std::get_if<schedule::AutoUnrollStep>(&a)) return unroll->stage == std::get<schedule::AutoUnrollStep>(b).stage;
  return a == b;
}

}  // namespace

Expected<schedule::Schedule> crossed(const schedule::Schedule& a, const schedule::Schedule& b, Rng& rng) {
  const Error others(ErrorCode::not_applicable, "Expected parents of one sketch whose stages are computed in the same places, found others");
  if (a.steps().size() != b.steps().size()) return others;
  for (size_t k = 0; k < a.steps().size(); ++k)
    if (!alike(a.steps()[k], b.steps()[k])) return others;
  schedule::Schedule child(a.dag());
  std::map<std::string, bool> from_b;  // by stage, whose number changes while stages are inserted
  for (size_t k = 0; k < a.steps().size(); ++k) {
    const schedule::Step& step = a.steps()[k];
    const auto* split = std::get_if<schedule::SplitStep>(&step);
    const auto* unroll = std::get_if<schedule::AutoUnrollStep>(&step);
    bool other = false;
    if (split || unroll) {
      const std::string& name = child.stages()[static_cast<size_t>(split ? split->stage : unroll->stage)].op.name;
      const auto [at, fresh] = from_b.try_emplace(name, false);
      if (fresh) at->second = rng.uniform(2) != 0;
      other = at->second;
    }
    TW_CHECK(child.append(other ? b.steps()[k] : step));
  }
  return child;
}

}  // namespace tw::space
