// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_compute_root(State& s, const ComputeRootStep& p) {
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
                .words = {{"compute_root", "Computes a stage whole, before all stages that read it.", kHalide}},
                .random = [](const Draw& d) -> Step { return ComputeRootStep{d.stage}; }},
      .json = in_order<&ComputeRootStep::stage>(),
      .apply = apply_compute_root,
      .describe = [](const ComputeRootStep& s, const Names& n) { return fmt::format("compute_root({})", n.stage(s.stage)); }};
  return row;
}

}  // namespace tw::schedule
