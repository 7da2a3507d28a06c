// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

/// Whether stage `i` is computed somewhere inside `loop` of stage `target` (or is the target itself).
bool inside(const State& s, int i, int target, int loop_position) {
  if (i == target) return true;
  const Stage& st = s.stages[static_cast<size_t>(i)];
  if (st.location == ComputeLocation::inlined) {
    const std::vector<int> readers = reading_loops(s.stages, i);
    return std::all_of(readers.begin(), readers.end(), [&](int r) { return inside(s, r, target, loop_position); });
  }
  if (st.location != ComputeLocation::at) return false;
  if (st.at_stage == target) return position_of(s.stages[static_cast<size_t>(target)], st.at_iter->get()) >= loop_position;
  return inside(s, st.at_stage, target, loop_position);
}

/// Steps after a compute_at can change its loop, or give the stage readers elsewhere.
Expected<void> check_places(const State& s) {
  for (size_t i = 0; i < s.stages.size(); ++i) {
    const Stage& st = s.stages[i];
    if (st.location != ComputeLocation::at) continue;
    const Stage& target = s.stages[static_cast<size_t>(st.at_stage)];
    const int loop = position_of(target, st.at_iter->get());
    if (loop < 0 || target.location == ComputeLocation::inlined)
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected loop '{}' of '{}', where '{}' is computed, found it changed by a later step",
                                                            (*st.at_iter)->name, target.op.name, st.op.name));
    for (const int r : readers_of(s.stages, static_cast<int>(i)))
      if (!inside(s, r, st.at_stage, loop))
        return Error(ErrorCode::illegal_schedule, fmt::format("Expected every reader of '{}' inside loop '{}' of '{}', found '{}' outside", st.op.name,
                                                              (*st.at_iter)->name, target.op.name, s.stages[static_cast<size_t>(r)].op.name));
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
  for (const int r : readers_of(s.stages, p.stage))
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

}  // namespace

const PrimitiveOf<ComputeAtStep>& ComputeAtStep::primitive() {
  static const PrimitiveOf<ComputeAtStep> row{
      .about = {.code = "CA",
                .words = {{"compute_at", "Computes a stage inside a loop of its consumer: only the region that one iteration needs, just before it is used.",
                           kHalide}},
                .random = [](const Draw& d) -> Step {
                  const int target = d.below(d.stages());
                  return ComputeAtStep{d.stage, target, d.below(d.schedule.stages()[static_cast<size_t>(target)].iters.size())};
                },
                .check = check_places},
      .json = in_order<&ComputeAtStep::stage, &ComputeAtStep::target_stage, &ComputeAtStep::target_iter>(),
      .apply = apply_compute_at,
      .describe = [](const ComputeAtStep& s, const Names& n) {
        return fmt::format("compute_at({}, {}, {})", n.stage(s.stage), n.stage(s.target_stage), n.loop(s.target_stage, s.target_iter));
      }};
  return row;
}

}  // namespace tw::schedule
