// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/fallback.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/x86/tiles.h"

namespace tw::space::x86 {

namespace {

std::optional<cpu::Anchor> anchor_of(const te::Dag& dag) { return cpu::find_anchor(dag, "batch_matmul", te::Role::activation); }

const te::Op& product(const te::Dag& dag) { return dag.ops[static_cast<size_t>(anchor_of(dag)->reduce)]; }

/// Largest power of two up to 8 that divides n.
int64_t power_of_two(int64_t n) {
  int64_t p = 8;
  while (n % p != 0) p /= 2;
  return p;
}

bool batch_matmul_matches(const te::Dag& dag, const Target&) {
  const auto a = anchor_of(dag);
  return a && a->pad < 0 && product(dag).output->shape.size() == 3;
}

ConfigSpace batch_matmul_space(const te::Dag& dag, const Target&) {
  const te::Op& op = product(dag);
  return dot_space(op.output->shape[1], op.output->shape[2], op.reduce_axes.front().extent);
}

ConfigEntity batch_matmul_fallback(const te::Dag& dag, const Target& target) {
  const te::Op& op = product(dag);
  const std::vector<int64_t>& shape = op.output->shape;
  return point_with(batch_matmul_space(dag, target), {{"tile_y", {-1, power_of_two(shape[1])}},
                                                      {"tile_x", {-1, power_of_two(shape[2])}},
                                                      {"tile_k", {-1, rules::divisor_up_to(op.reduce_axes.front().extent, 16)}}});
}

Expected<schedule::Schedule> batch_matmul_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return dot_schedule(dag, *anchor_of(*dag), target, e);
}

}  // namespace

Template batch_matmul() {
  return {"batch_matmul.x86",
          batch_matmul_matches,
          batch_matmul_space,
          batch_matmul_apply,
          batch_matmul_fallback,
          "AutoTVM's batched matrix product: partial sums in vectors along the reduction, as in its dense layers without packing.",
          kAutotvmX86};
}

}  // namespace tw::space::x86
