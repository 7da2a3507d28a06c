// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/mutate.h"

namespace tw::space {

using schedule::Annotation;
using schedule::AnnotationStep;
using schedule::FuseStep;

namespace {

/// Joins more or fewer loops to a parallel one. Later steps count that stage's loops by as many more or less.
Expected<std::vector<schedule::Step>> change_parallel(const Mutation& m) {
  const std::vector<schedule::Step>& steps = m.parent;
  std::vector<size_t> fusions;
  for (size_t k = 1; k < steps.size(); ++k) {
    const auto* a = std::get_if<AnnotationStep>(&steps[k]);
    const auto* f = std::get_if<FuseStep>(&steps[k - 1]);
    if (a && f && a->annotation == Annotation::parallel && a->iter == 0 && f->stage == a->stage && !f->iters.empty() && f->iters.front() == 0)
      fusions.push_back(k - 1);
  }
  if (fusions.empty()) return Error(ErrorCode::not_applicable, "Expected loops that are joined to a parallel one, found none");
  const size_t at = fusions[m.rng.uniform(fusions.size())];
  const auto& fuse = std::get<FuseStep>(steps[at]);
  TW_TRY(schedule::Schedule s, schedule::Schedule::replay(m.dag, {steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(at)}));
  const std::vector<schedule::Iter>& loops = s.stages()[static_cast<size_t>(fuse.stage)].iters;
  size_t most = 0;
  while (most < loops.size() && loops[most].kind == te::AxisKind::spatial && loops[most].annotation == Annotation::none) {
    ++most;
    if (has_attached(s, fuse.stage, most - 1)) break;
  }
  if (most == 0) return Error(ErrorCode::not_applicable, "Expected a loop that can be parallel, found none");
  const size_t count = 1 + m.rng.uniform(most);
  if (count == fuse.iters.size()) return Error(ErrorCode::not_applicable, "Expected another number of loops, drew the one that is there");
  const int shift = static_cast<int>(fuse.iters.size()) - static_cast<int>(count);
  FuseStep other{fuse.stage, {}};
  for (size_t k = 0; k < count; ++k) other.iters.push_back(static_cast<int>(k));
  TW_CHECK(s.append(other));
  for (size_t k = at + 1; k < steps.size(); ++k) {
    schedule::Step step = steps[k];
    if (auto* a = std::get_if<AnnotationStep>(&step)) {
      if (a->stage == fuse.stage && a->iter > 0) a->iter += shift;
    } else if (auto* c = std::get_if<schedule::ComputeAtStep>(&step)) {
      if (c->target_stage == fuse.stage && c->target_iter > 0) c->target_iter += shift;
    } else if (auto* f = std::get_if<FuseStep>(&step)) {
      if (f->stage == fuse.stage)
        for (int& i : f->iters) i += shift;
    } else if (!std::holds_alternative<schedule::AutoUnrollStep>(step) && !std::holds_alternative<schedule::ComputeRootStep>(step)) {
      return Error(ErrorCode::not_applicable, "Expected marks after the joined loops, found other steps");
    }
    TW_CHECK(s.append(step));
  }
  return s.steps();
}

}  // namespace

MutationRule parallel_mutation() { return {"parallel", 0.01, 0, change_parallel, "Joins more or fewer loops to a parallel one."}; }

}  // namespace tw::space
