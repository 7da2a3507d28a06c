// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_compute_root(State& s, const ComputeRootStep& p) {
  if (p.stage >= 0 && p.stage < static_cast<int>(s.stages.size()) && s.stages[static_cast<size_t>(p.stage)].location == ComputeLocation::inlined)
    s.stages[static_cast<size_t>(p.stage)].location = ComputeLocation::root;  // its loops are as they were
  TW_TRY(Stage * st, computed_stage(s, p.stage, "compute_root"));
  st->location = ComputeLocation::root;
  st->at_stage = -1;
  st->at_iter.reset();
  return {};
}

}  // namespace

const PrimitiveOf<ComputeRootStep>& ComputeRootStep::primitive() {
  static const PrimitiveOf<ComputeRootStep> row{
      .about = {.code = "CR",
                .words = {{"compute_root", "Computes a stage whole, before all stages that read it: out of the loop or the definition that it was in.", kHalide}},
                .random = [](const Draw& d) -> Step { return ComputeRootStep{d.stage}; }},
      .json = in_order<&ComputeRootStep::stage>(),
      .apply = apply_compute_root,
      .describe = [](const ComputeRootStep& s, const Names& n) { return fmt::format("compute_root({})", n.stage(s.stage)); }};
  return row;
}

}  // namespace tw::schedule
