// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/fallback.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/x86/tiles.h"

namespace tw::space::x86 {

namespace {

bool dense_nopack_matches(const te::Dag& dag, const Target&) {
  const auto a = cpu::find_anchor(dag, "dense");
  return a && a->pad < 0;
}

ConfigSpace dense_nopack_space(const te::Dag& dag, const Target&) {
  const te::Op& op = dag.ops[static_cast<size_t>(cpu::find_anchor(dag, "dense")->reduce)];
  return dot_space(op.output->shape[0], op.output->shape[1], op.reduce_axes.front().extent);
}

ConfigEntity dense_nopack_fallback(const te::Dag& dag, const Target& target) {
  const te::Op& op = dag.ops[static_cast<size_t>(cpu::find_anchor(dag, "dense")->reduce)];
  const int64_t width = rules::divisor_up_to(op.reduce_axes.front().extent, 2 * target.lanes(kFloat32));
  return point_with(dense_nopack_space(dag, target), {{"tile_y", {-1, op.output->shape[0]}}, {"tile_x", {-1, 1}}, {"tile_k", {-1, width}}});
}

Expected<schedule::Schedule> dense_nopack_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return dot_schedule(dag, *cpu::find_anchor(*dag, "dense"), target, e);
}

}  // namespace

Template dense_nopack() {
  return {"dense_nopack.x86",
          dense_nopack_matches,
          dense_nopack_space,
          dense_nopack_apply,
          dense_nopack_fallback,
          "AutoTVM's matrix product with weights as they are. Each result is summed up in a vector along the reduction, whose lanes are added at the end: "
          "vectors and loads come without packing, at the price of that last sum.",
          kAutotvmX86};
}

}  // namespace tw::space::x86
