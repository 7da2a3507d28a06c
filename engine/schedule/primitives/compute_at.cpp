// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

namespace {

/// Whether stage `i` is computed somewhere inside `loop` of stage `target` (or is the target itself).
bool inside(const State& s, int i, int target, int loop_position) {
  if (i == target) return true;
  const Stage& st = s.stages[static_cast<size_t>(i)];
  if (st.location == ComputeLocation::inlined) {
    const std::vector<int> readers = readers_of(s, i);
    return std::all_of(readers.begin(), readers.end(), [&](int r) { return inside(s, r, target, loop_position); });
  }
  if (st.location != ComputeLocation::at) return false;
  if (st.at_stage == target) return position_of(s.stages[static_cast<size_t>(target)], st.at_iter->get()) >= loop_position;
  return inside(s, st.at_stage, target, loop_position);
}

}  // namespace

Expected<void> check_locations(const State& s) {
  for (size_t i = 0; i < s.stages.size(); ++i) {
    const Stage& st = s.stages[i];
    if (st.location != ComputeLocation::at) continue;
    const Stage& target = s.stages[static_cast<size_t>(st.at_stage)];
    const int loop = position_of(target, st.at_iter->get());
    if (loop < 0 || target.location == ComputeLocation::inlined)
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected loop '{}' of '{}', where '{}' is computed, found it changed by a later step",
                                                            (*st.at_iter)->name, target.op.name, st.op.name));
    for (const int r : readers_of(s, static_cast<int>(i)))
      if (!inside(s, r, st.at_stage, loop))
        return Error(ErrorCode::illegal_schedule, fmt::format("Expected every reader of '{}' inside loop '{}' of '{}', found '{}' outside", st.op.name,
                                                              (*st.at_iter)->name, target.op.name, s.stages[static_cast<size_t>(r)].op.name));
  }
  for (size_t i = 0; i < s.stages.size(); ++i) {
    if (s.stages[i].double_buffer || s.stages[i].pipeline > 0) TW_CHECK(check_ahead(s, static_cast<int>(i)));
    if (s.stages[i].warp_product) TW_CHECK(check_tensorize(s.stages[i]));
  }
  return {};
}

Expected<void> apply_compute_at(State& s, const ComputeAtStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "compute_at"));
  TW_TRY(Stage * target, computed_stage(s, p.target_stage, "compute_at"));
  if (p.target_iter < 0 || p.target_iter >= static_cast<int>(target->iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' for 'compute_at', found {}", target->iters.size(), target->op.name, p.target_iter));
  if (is_output(s, p.stage))
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage that is no output for 'compute_at', found '{}'", st->op.name));
  if (p.target_stage <= p.stage)
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected a later stage as target for 'compute_at' of '{}', found '{}'", st->op.name, target->op.name));
  for (const int r : readers_of(s, p.stage))
    if (!inside(s, r, p.target_stage, p.target_iter))
      return Error(ErrorCode::illegal_schedule,
                   fmt::format("Expected every reader of '{}' inside loop '{}' of '{}', found '{}' outside", st->op.name,
                               target->iters[static_cast<size_t>(p.target_iter)].var->name, target->op.name, s.stages[static_cast<size_t>(r)].op.name));
  const Iter& loop = target->iters[static_cast<size_t>(p.target_iter)];
  if (loop.annotation == Annotation::vectorize)
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected a loop that is not vectorised for 'compute_at', found '{}' of '{}'", loop.var->name, target->op.name));
  st->location = ComputeLocation::at;
  st->at_stage = p.target_stage;
  st->at_iter = loop.var;
  return {};
}

Expected<void> apply_compute_root(State& s, const ComputeRootStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "compute_root"));
  st->location = ComputeLocation::root;
  st->at_stage = -1;
  st->at_iter.reset();
  return {};
}

}  // namespace tw::schedule
