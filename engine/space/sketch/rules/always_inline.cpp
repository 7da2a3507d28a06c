// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

/// On a GPU everything is computed where it is read; on a processor what costs nothing to compute again.
RuleFit fits_inline(const SketchState& s, int stage) {
  const schedule::Stage& st = s.stage(stage);
  if (st.op.is_placeholder() || s.is_output(stage) || !st.op.reduce_axes.empty() || st.location == schedule::ComputeLocation::inlined) return RuleFit::skip;
  return s.target().gpu || s.access().is_strictly_inlineable(stage) ? RuleFit::apply_and_end : RuleFit::skip;
}

Derived inline_stage(const SketchState& s, int stage) {
  SketchState next = s;
  next.apply(schedule::ComputeInlineStep{stage});
  return {{next, stage - 1}};
}

}  // namespace

SketchRule always_inline_rule() {
  return {"always-inline", true, true, fits_inline, inline_stage, "Computes a stage where it is read instead of storing it."};
}

}  // namespace tw::space
