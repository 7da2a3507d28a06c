// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

Expected<void> apply_annotation(State& s, const AnnotationStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "annotate"));
  if (p.iter < 0 || p.iter >= static_cast<int>(st->iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' to annotate, found {}", st->iters.size(), st->op.name, p.iter));
  Iter& it = st->iters[static_cast<size_t>(p.iter)];
  // They would combine into one element without order. Vector lanes get accumulators of their own; threads of a block combine theirs after the loop.
  const bool thread = p.annotation == Annotation::thread_x || p.annotation == Annotation::thread_y || p.annotation == Annotation::thread_z;
  if (it.kind == te::AxisKind::reduce && p.annotation > Annotation::vectorize && !is_unrolled(p.annotation) && !thread)
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a spatial loop for '{}', found the reduction loop '{}' of stage '{}'",
                                                          annotation_name(p.annotation), it.var->name, st->op.name));
  if (is_binding(p.annotation) && p.annotation != Annotation::vthread)
    for (const Iter& other : st->iters)
      if (other.annotation == p.annotation && !other.var.same_as(it.var))
        return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} to be bound once in stage '{}', found '{}' bound to it before '{}'",
                                                              annotation_name(p.annotation), st->op.name, other.var->name, it.var->name));
  it.annotation = p.annotation;
  return {};
}

}  // namespace tw::schedule
