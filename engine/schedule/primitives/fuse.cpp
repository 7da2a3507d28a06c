// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_fuse(State& s, const FuseStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "fuse"));
  FuseRelation relation{{}, ir::make_var("one")};
  std::string name;
  int64_t extent = 1;
  te::AxisKind kind = te::AxisKind::spatial;
  for (size_t k = 0; k < p.iters.size(); ++k) {
    const int i = p.iters[k];
    if (i < 0 || i >= static_cast<int>(st->iters.size()) || (k > 0 && i != p.iters[k - 1] + 1))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected adjacent loops of stage '{}' for 'fuse', found index {}", st->op.name, i));
    const Iter& it = st->iters[static_cast<size_t>(i)];
    if (it.annotation != Annotation::none || (k > 0 && it.kind != kind))
      return Error(ErrorCode::illegal_schedule,
                   fmt::format("Expected loops of one kind without annotation for 'fuse', found '{}' of stage '{}'", it.var->name, st->op.name));
    kind = it.kind;
    if (it.extent > kMaxExtent / extent)
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected at most 2^48 iterations of the fused loop of '{}', found more", st->op.name));
    if (k + 1 < p.iters.size())
      for (const Stage& other : s.stages)
        if (other.location == ComputeLocation::at && other.at_stage == p.stage && other.at_iter->same_as(it.var))
          return Error(ErrorCode::illegal_schedule, fmt::format("Expected stages to be computed in the last loop for 'fuse' alone, found '{}' in '{}' of '{}'",
                                                                other.op.name, it.var->name, st->op.name));
    extent *= it.extent;
    name += (k ? "_" : "") + it.var->name;
    relation.parents.push_back(it.var);
  }
  if (!p.iters.empty()) {
    relation.child = ir::make_var(name);
    move_attached(s, p.stage, relation.parents.back(), relation.child);
  }
  const Iter fused{relation.child, extent, kind};
  const auto first = st->iters.begin() + (p.iters.empty() ? 0 : p.iters.front());
  st->iters.insert(st->iters.erase(first, first + static_cast<std::ptrdiff_t>(p.iters.size())), fused);
  st->relations.push_back(std::move(relation));
  return {};
}

}  // namespace

const PrimitiveOf<FuseStep>& FuseStep::primitive() {
  static const PrimitiveOf<FuseStep> row{
      .about = {.code = "FU",
                .words = {{"fuse", "Joins adjacent loops into one that runs over their product, so that one annotation covers them all.", kHalide}},
                .random = [](const Draw& d) -> Step {
                  if (d.rng.uniform(16) == 0) return FuseStep{d.stage, {}};
                  const int first = d.loop();
                  FuseStep step{d.stage, {first}};
                  for (int k = first + 1; k < static_cast<int>(d.at().iters.size()) && d.rng.uniform(2); ++k) step.iters.push_back(k);
                  return step;
                }},
      .json = in_order<&FuseStep::stage, &FuseStep::iters>(),
      .apply = apply_fuse,
      .describe = [](const FuseStep& s, const Names& n) { return fmt::format("fuse({}, {})", n.stage(s.stage), s.iters.empty() ? "nothing" : fmt::format("{}", fmt::join(n.loops(s.stage, s.iters), ", "))); }};
  return row;
}

}  // namespace tw::schedule
