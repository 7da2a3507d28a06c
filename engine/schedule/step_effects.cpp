// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedule/schedule.h"

namespace tw::schedule {

namespace {

/// Stages keep their output's buffer while their numbers move; a step that gives a stage another buffer has made it anew.
const Stage* same_stage(const std::vector<Stage>& stages, const Stage& as) {
  const auto it = std::find_if(stages.begin(), stages.end(), [&](const Stage& st) { return st.op.output.same_as(as.op.output); });
  return it == stages.end() ? nullptr : &*it;
}

const Iter* same_loop(const Stage& stage, const ir::Var& var) {
  const auto it = std::find_if(stage.iters.begin(), stage.iters.end(), [&](const Iter& i) { return i.var.same_as(var); });
  return it == stage.iters.end() ? nullptr : &*it;
}

bool is_elsewhere(const Stage& a, const Stage& b) {
  const bool other_loop = a.at_iter.has_value() != b.at_iter.has_value() || (a.at_iter && !a.at_iter->same_as(*b.at_iter));
  return a.location != b.location || other_loop || a.scope != b.scope || a.layout != b.layout || a.alignments.size() != b.alignments.size() ||
         a.paddings.size() != b.paddings.size() || a.double_buffer != b.double_buffer || a.pipeline != b.pipeline || a.auto_unroll != b.auto_unroll || a.warp_product.has_value() != b.warp_product.has_value() || a.winograd != b.winograd;
}

/// Loops of `stage` that are `var` or were made from it.
void add_descendants(const Stage& stage, const ir::Var& var, std::vector<int>& out) {
  if (const Iter* it = same_loop(stage, var)) out.push_back(static_cast<int>(it - stage.iters.data()));
  for (const Relation& r : stage.relations) {
    if (const auto* split = std::get_if<SplitRelation>(&r)) {
      if (!split->parent.same_as(var)) continue;
      for (const ir::Var& child : split->children) add_descendants(stage, child, out);
    } else {
      const auto& fuse = std::get<FuseRelation>(r);
      for (const ir::Var& parent : fuse.parents)
        if (parent.same_as(var)) add_descendants(stage, fuse.child, out);
    }
  }
}

/// Loops of `after` that are not as they were: new, annotated otherwise, or at another place among those that stayed.
std::vector<ir::Var> changed_loops(const Stage* before, const Stage& after) {
  std::vector<ir::Var> out, stayed_before, stayed_after;
  if (before)
    for (const Iter& it : before->iters)
      if (same_loop(after, it.var)) stayed_before.push_back(it.var);
  for (const Iter& it : after.iters) {
    const Iter* old = before ? same_loop(*before, it.var) : nullptr;
    if (old) stayed_after.push_back(it.var);
    if (!old || old->annotation != it.annotation) out.push_back(it.var);
  }
  for (size_t i = 0; i < stayed_after.size(); ++i)
    if (!stayed_after[i].same_as(stayed_before[i])) out.push_back(stayed_after[i]);
  return out;
}

template <class T>
void sort_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

std::vector<StepEffect> step_effects(const Schedule& s) {
  // Loops are compared by identity, so all states come from one run of the steps.
  std::vector<Schedule> states{Schedule(s.dag())};
  for (const Step& step : s.steps()) {
    auto next = states.back().apply(step);
    TW_ASSERT(next.has_value(), "a schedule's own steps apply");
    states.push_back(std::move(*next));
  }
  const std::vector<Stage>& last = states.back().stages();
  std::vector<StepEffect> out(s.steps().size());
  for (size_t k = 0; k < out.size(); ++k) {
    for (const Stage& after : states[k + 1].stages()) {
      const Stage* before = same_stage(states[k].stages(), after);
      const Stage* final_stage = same_stage(last, after);
      if (!final_stage) continue;  // a later step made it anew
      const int number = static_cast<int>(final_stage - last.data());
      if (!before || is_elsewhere(*before, after)) out[k].stages.push_back(number);
      std::vector<int> loops;
      for (const ir::Var& var : changed_loops(before, after)) add_descendants(*final_stage, var, loops);
      for (const int loop : loops) out[k].loops.emplace_back(number, loop);
    }
    sort_unique(out[k].stages);
    sort_unique(out[k].loops);
  }
  return out;
}

}  // namespace tw::schedule
