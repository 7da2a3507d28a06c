// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"

#include "engine/target/gpu.h"

namespace tw::space {

namespace {

RuleFit fits_cross_thread(const SketchState& s, int stage) {
  const schedule::Stage& st = s.stage(stage);
  if (st.op.is_placeholder() || st.op.reduce_axes.empty() || s.is_cache_written(stage)) return RuleFit::skip;
  const int64_t spatial = s.iterations(stage, te::AxisKind::spatial), reduced = s.iterations(stage, te::AxisKind::reduce);
  const bool few = s.needs_tiling(stage) ? spatial <= target::kMaxBlockThreads && spatial < reduced : reduced > target::kWarp;
  return few ? RuleFit::apply : RuleFit::skip;
}

void bind_threads(SketchState& s, int stage, int iter) { s.apply(schedule::AnnotationStep{stage, iter, schedule::Annotation::thread_x}); }

Derived reduce_by_threads(const SketchState& s, int stage) {
  SketchState next = s;
  const int spatial = static_cast<int>(s.stage(stage).op.axes.size());
  schedule::FuseStep all{stage, {}};
  for (int k = spatial; k < static_cast<int>(s.stage(stage).iters.size()); ++k) all.iters.push_back(k);
  if (all.iters.size() > 1) next.apply(all);

  const Access reads = s.access();
  const int consumer = s.is_output(stage) ? -1 : reads.single_consumer(stage);
  const int common = consumer < 0 ? 0 : reads.common_outer(stage, consumer);
  if (consumer < 0 || common == 0 || s.needs_tiling(consumer)) {
    next.apply(schedule::SplitStep{stage, spatial, next.stage(stage).iters[static_cast<size_t>(spatial)].extent, {target::kWarp}});
    bind_threads(next, stage, spatial + 1);
    return {{next, stage - 1}};
  }
  // Inside the consumer's outer loops: its threads are those that reduce.
  if (next.split_of(consumer) < 0) {
    const int last = static_cast<int>(next.stage(consumer).iters.size()) - 1;
    next.apply(schedule::SplitStep{consumer, last, next.stage(consumer).iters[static_cast<size_t>(last)].extent, {target::kWarp}});
    bind_threads(next, consumer, last + 1);
  }
  next.apply(schedule::FollowSplitStep{stage, spatial, next.split_of(consumer), 1});
  bind_threads(next, stage, spatial + 1);
  next.apply(schedule::ComputeAtStep{stage, consumer, common - 1});
  return {{next, stage - 1}};
}

}  // namespace

SketchRule cross_thread_reduction_rule() {
  return {"cross-thread-reduction", false, true, fits_cross_thread, reduce_by_threads,
          "Lets the threads of a block reduce together what is too few results for threads of their own."};
}

}  // namespace tw::space
