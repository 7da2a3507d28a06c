// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/draw.h"

namespace tw::space {

namespace {

Expected<void> write_out(Draft& d) {
  const std::span<const int64_t> choices = unroll_choices(d.target);
  for (int i = 0; i < d.stages(); ++i) {
    const schedule::Stage& st = d.stage(i);
    const bool reduces = std::any_of(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce; });
    if (!schedule::has_loops(st) || !reduces) continue;
    TW_CHECK(d.s.append(schedule::AutoUnrollStep{i, choices[d.rng.uniform(choices.size())]}));
  }
  return {};
}

}  // namespace

AnnotationRule unroll_annotation() {
  return {"unroll", true, true, write_out, "Writes out the inner loops of reductions, up to a number of stores."};
}

}  // namespace tw::space
