// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/mutate.h"

namespace tw::space {

namespace {

Expected<std::vector<schedule::Step>> change_unroll(const Mutation& m) {
  std::vector<schedule::Step> steps = m.parent;
  std::vector<schedule::AutoUnrollStep*> found;
  for (schedule::Step& s : steps)
    if (auto* unroll = std::get_if<schedule::AutoUnrollStep>(&s)) found.push_back(unroll);
  if (found.empty()) return Error(ErrorCode::not_applicable, "Expected a stage whose loops are written out up to a number, found none");
  const std::span<const int64_t> choices = unroll_choices(m.target);
  found[m.rng.uniform(found.size())]->steps = choices[m.rng.uniform(choices.size())];
  return steps;
}

}  // namespace

MutationRule auto_unroll_mutation() { return {"auto-unroll", 0.04, 0.10, change_unroll, "Draws anew up to how many stores a stage's loops are written out."}; }

}  // namespace tw::space
