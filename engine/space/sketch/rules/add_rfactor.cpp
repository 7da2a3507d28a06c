// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

/// Few results of many terms keep no cores busy by themselves.
RuleFit fits_rfactor(const SketchState& s, int stage) {
  const schedule::Stage& st = s.stage(stage);
  if (st.op.is_placeholder() || st.op.reduce_axes.empty() || s.is_cache_written(stage)) return RuleFit::skip;
  const int64_t spatial = s.iterations(stage, te::AxisKind::spatial), reduced = s.iterations(stage, te::AxisKind::reduce);
  const int64_t cores = std::max(1, s.target().cores);
  const bool needs = s.needs_tiling(stage) ? spatial <= reduced && spatial <= kPiecesPerCore * cores : reduced > 1 && reduced > cores;
  return needs ? RuleFit::apply : RuleFit::skip;
}

/// The terms in two levels, one of which becomes an axis of partial results: the outer, for cores, or the inner, for the lanes of vectors.
Derived factor(const SketchState& s, int stage) {
  const int spatial = static_cast<int>(s.stage(stage).op.axes.size());
  SketchState base = s;
  schedule::FuseStep all{stage, {}};
  for (int k = spatial; k < static_cast<int>(s.stage(stage).iters.size()); ++k) all.iters.push_back(k);
  if (all.iters.size() > 1) base.apply(all);
  base.open_split(stage, spatial, 2);

  SketchState outer = base, inner = base;
  outer.apply(schedule::RfactorStep{stage, spatial, spatial});
  inner.apply(schedule::RfactorStep{stage, spatial + 1, spatial});
  schedule::ReorderStep last{stage, {}};
  for (int k = 0; k < static_cast<int>(inner.stage(stage).iters.size()); ++k)
    if (k != spatial) last.order.push_back(k);
  last.order.push_back(spatial);
  inner.apply(last);
  return {{outer, stage - 1}, {inner, stage - 1}};
}

}  // namespace

SketchRule add_rfactor_rule() {
  return {"add-rfactor", true, false, fits_rfactor, factor, "Sums parts of a long reduction apart, side by side, and adds them up after that."};
}

}  // namespace tw::space
