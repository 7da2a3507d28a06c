// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/draw.h"

namespace tw::space {

namespace {

bool reduces(const schedule::Stage& st) {
  return std::any_of(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce; });
}

Expected<void> write_out(Draft& d) {
  const std::span<const int64_t> choices = unroll_choices(d.target);
  for (int i = 0; i < d.stages(); ++i) {
    const schedule::Stage& st = d.stage(i);
    if (!schedule::has_loops(st) || !reduces(st)) continue;
    const int64_t steps = choices[d.rng.uniform(choices.size())];
    TW_CHECK(d.s.append(schedule::AutoUnrollStep{i, steps}));
    // A tile is kept in registers only where its copy is written out too.
    const int copy = d.options.exact || d.target.gpu || d.stage(i).location != schedule::ComputeLocation::at ? -1 : d.stage(i).at_stage;
    if (copy >= 0 && !reduces(d.stage(copy)) && d.stage(copy).auto_unroll < 0) TW_CHECK(d.s.append(schedule::AutoUnrollStep{copy, steps}));
  }
  return {};
}

}  // namespace

AnnotationRule unroll_annotation() {
  return {"unroll", true, true, write_out, "Writes out the inner loops of reductions, and of what copies their tiles, up to a number of stores."};
}

}  // namespace tw::space
