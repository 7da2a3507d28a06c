// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "engine/space/sketch/draw.h"

namespace tw::space {

using schedule::Annotation;
using schedule::ComputeLocation;
using te::AxisKind;

std::vector<Place> places_of(const schedule::Schedule& s, const lower::LoopExtents& extents, int consumer) {
  if (consumer < 0) return {};
  std::vector<Place> out;
  const schedule::Stage& target = s.stages()[static_cast<size_t>(consumer)];
  const bool tiled = is_tiled(target);
  bool reduces = false;
  for (size_t k = 0; k < target.iters.size(); ++k) {
    const schedule::Iter& it = target.iters[k];
    if (it.kind == AxisKind::reduce) {
      reduces = true;
      if (!tiled) break;
    } else if (reduces) {
      break;  // it would be computed again for each of these
    }
    if (schedule::is_unrolled(it.annotation) || it.annotation == Annotation::vectorize) break;
    if (extents.of(consumer, it) > 1) out.push_back({consumer, static_cast<int>(k)});
    if (has_attached(s, consumer, k)) break;
  }
  if (target.location != ComputeLocation::at) return out;
  const schedule::Stage& around = s.stages()[static_cast<size_t>(target.at_stage)];
  const int inside = schedule::position_of(around, target.at_iter->get());
  for (int k = 0; k <= inside; ++k) {
    const schedule::Iter& it = around.iters[static_cast<size_t>(k)];
    if (it.kind == AxisKind::reduce || schedule::is_unrolled(it.annotation)) break;
    if (extents.of(target.at_stage, it) > 1) out.push_back({target.at_stage, k});
    if (has_attached(s, target.at_stage, static_cast<size_t>(k))) break;
  }
  return out;
}

namespace {

/// Where nothing else decides, a stage is inlined, by itself, or in one of its consumer's loops: each as likely.
Expected<void> move_stages(Draft& d) {
  if (!d.options.move_stages) return {};
  const Access reads(d.s.stages());
  std::set<int> moved;  // since the loops were counted: they, and they alone, run otherwise
  for (int i = d.stages() - 1; i >= 0; --i) {
    const schedule::Stage& st = d.stage(i);
    if (!schedule::has_loops(st) || is_tiled(st) || reads.needs_tiling(i, d.options.exact)) continue;
    const std::vector<int>& outputs = d.s.outputs();
    const bool output = std::find(outputs.begin(), outputs.end(), i) != outputs.end();
    const int consumer = output ? -1 : reads.single_consumer(i);
    if (!output && (!d.known || moved.contains(consumer) || (consumer >= 0 && moved.contains(d.stage(consumer).at_stage)))) {
      d.refresh();
      moved.clear();
    }
    const std::vector<Place> places = consumer < 0 ? std::vector<Place>() : places_of(d.s, *d.known, consumer);
    const size_t before = d.s.steps().size();
    const size_t choice = d.rng.uniform(places.size() + 2);
    const bool attached = std::any_of(d.s.stages().begin(), d.s.stages().end(), [&](const schedule::Stage& o) { return o.at_stage == i; });
    if (choice == 0) {
      // TVM 0.9 leaves a stage that is by itself as it is.
      const bool disappears = !output && !attached && st.op.reduce_axes.empty() && (!d.options.exact || st.location == ComputeLocation::at);
      if (disappears) TW_CHECK(d.s.append(schedule::ComputeInlineStep{i}));
    } else if (choice == 1) {
      if (st.location == ComputeLocation::at) TW_CHECK(d.s.append(schedule::ComputeRootStep{i}));
    } else {
      TW_CHECK(d.s.append(schedule::ComputeAtStep{i, places[choice - 2].stage, places[choice - 2].loop}));
    }
    if (d.s.steps().size() > before) moved.insert(i);
  }
  if (!moved.empty()) d.known.reset();
  return {};
}

}  // namespace

AnnotationRule compute_location_annotation() {
  return {"compute-location", true, false, move_stages, "Computes stages that are not tiled by themselves, where they are read, or in a loop of their consumer."};
}

}  // namespace tw::space
