// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

/// The only consumer, if it lacks tiles of its own and the stage can disappear into it.
int const_tensor_consumer(const SketchState& s, int stage) {
  const Access reads = s.access();
  const schedule::Stage& st = s.stage(stage);
  if (st.op.is_placeholder() || st.location != schedule::ComputeLocation::root || !st.op.reduce_axes.empty() || s.is_output(stage)) return -1;
  if (reads.producers(stage).empty()) return -1;
  const std::set<int> consumers = reads.consumers(stage);
  if (consumers.size() != 1 || !s.stage(*consumers.begin()).op.attrs.contains(te::kConstTensorLoops)) return -1;
  return *consumers.begin();
}

/// Just outside of the loops that are written out, so that its elements are computed once for all of their turns.
Derived compute_before_const_loops(const SketchState& s, int stage) {
  const int consumer = const_tensor_consumer(s, stage);
  SketchState next = s;
  const std::vector<schedule::Iter>& loops = s.stage(consumer).iters;
  const auto first = std::find_if(loops.begin(), loops.end(), [](const schedule::Iter& it) { return it.annotation == schedule::Annotation::unroll; });
  if (first != loops.begin() && first != loops.end()) next.apply(schedule::ComputeAtStep{stage, consumer, static_cast<int>(first - loops.begin()) - 1});
  return {{next, stage - 1}};
}

}  // namespace

SketchRule special_compute_location_rule() {
  return {"special-compute-location", false, true,
          [](const SketchState& s, int stage) { return const_tensor_consumer(s, stage) >= 0 ? RuleFit::apply_and_end : RuleFit::skip; },
          compute_before_const_loops, "Computes what is multiplied by a small constant matrix once for all of the matrix, in registers."};
}

}  // namespace tw::space
