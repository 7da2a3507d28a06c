// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/mutate.h"

namespace tw::space {

using schedule::ComputeLocation;

namespace {

/// Says where a stage is computed once more, at the end: places are loops as they are there.
Expected<std::vector<schedule::Step>> move_stage(const Mutation& m) {
  TW_TRY(const schedule::Schedule s, schedule::Schedule::replay(m.dag, m.parent));
  const lower::LoopExtents extents(s);
  const Access reads(s.stages());
  struct Choice {
    int stage;
    std::vector<Place> places;
  };
  std::vector<Choice> movable;
  for (int i = 0; i < static_cast<int>(s.stages().size()); ++i) {
    const schedule::Stage& st = s.stages()[static_cast<size_t>(i)];
    const bool placed = st.location == ComputeLocation::at || (!m.options.exact && st.location == ComputeLocation::root);
    const bool output = std::find(s.outputs().begin(), s.outputs().end(), i) != s.outputs().end();
    if (st.op.is_placeholder() || output || !placed || is_tiled(st) || reads.needs_tiling(i, m.options.exact)) continue;
    std::vector<Place> places = places_of(s, extents, reads.single_consumer(i));
    std::erase_if(places, [&](const Place& p) {
      return st.location == ComputeLocation::at && st.at_stage == p.stage && s.stages()[static_cast<size_t>(p.stage)].iters[static_cast<size_t>(p.loop)].var.same_as(*st.at_iter);
    });
    if (!places.empty() || st.location == ComputeLocation::at) movable.push_back({i, std::move(places)});
  }
  if (movable.empty()) return Error(ErrorCode::not_applicable, "Expected a stage that can be computed elsewhere, found none");
  const Choice& c = movable[m.rng.uniform(movable.size())];
  const bool has_root = s.stages()[static_cast<size_t>(c.stage)].location == ComputeLocation::at;
  const size_t choice = m.rng.uniform(c.places.size() + has_root);
  std::vector<schedule::Step> steps = s.steps();
  if (choice == c.places.size())
    steps.emplace_back(schedule::ComputeRootStep{c.stage});
  else
    steps.emplace_back(schedule::ComputeAtStep{c.stage, c.places[choice].stage, c.places[choice].loop});
  // What it said last about the same stage has no effect any more.
  const size_t last = steps.size() - 1;
  if (last > 0) {
    const auto* before = std::get_if<schedule::ComputeAtStep>(&steps[last - 1]);
    const auto* root = std::get_if<schedule::ComputeRootStep>(&steps[last - 1]);
    if ((before && before->stage == c.stage) || (root && root->stage == c.stage)) steps.erase(steps.end() - 2);
  }
  return steps;
}

}  // namespace

MutationRule compute_location_mutation() {
  return {"compute-location", 0.05, 0, move_stage, "Computes a stage that is not tiled in another loop of its consumer, or by itself."};
}

}  // namespace tw::space
