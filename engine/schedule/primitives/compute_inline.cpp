// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_compute_inline(State& s, const ComputeInlineStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "compute_inline"));
  if (st->op.reducer != te::Reducer::none)
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage without reduction for 'compute_inline', found '{}'", st->op.name));
  if (is_output(s, p.stage))
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage that is no output for 'compute_inline', found '{}'", st->op.name));
  if (std::any_of(s.stages.begin(), s.stages.end(), [&](const Stage& o) { return o.at_stage == p.stage; }))
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage that nothing is computed at for 'compute_inline', found '{}'", st->op.name));
  st->location = ComputeLocation::inlined;
  return {};
}

}  // namespace

const PrimitiveOf<ComputeInlineStep>& ComputeInlineStep::primitive() {
  static const PrimitiveOf<ComputeInlineStep> row{
      .about = {.code = "CI",
                .words = {{"compute_inline", "Replaces every read of a stage by its definition: nothing is stored, but shared values are computed again.",
                           kHalide}},
                .random = [](const Draw& d) -> Step { return ComputeInlineStep{d.stage}; }},
      .json = in_order<&ComputeInlineStep::stage>(),
      .apply = apply_compute_inline,
      .describe = [](const ComputeInlineStep& s, const Names& n) { return fmt::format("compute_inline({})", n.stage(s.stage)); }};
  return row;
}

}  // namespace tw::schedule
