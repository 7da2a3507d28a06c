// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

Expected<void> apply_annotation(State& s, const AnnotationStep& p, int step) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "annotate"));
  if (p.iter < 0 || p.iter >= static_cast<int>(st->iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' to annotate, found {}", st->iters.size(), st->op.name, p.iter));
  Iter& it = st->iters[static_cast<size_t>(p.iter)];
  // Threads would combine into one element without order; vector lanes get accumulators of their own.
  if (it.kind == te::AxisKind::reduce && p.annotation == Annotation::parallel)
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected a spatial loop to parallelise, found the reduction loop '{}' of stage '{}'", it.var->name, st->op.name));
  it.annotation = p.annotation;
  it.step = step;
  return {};
}

}  // namespace tw::schedule
