// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/draw.h"

namespace tw::space {

using schedule::Annotation;
using schedule::ComputeLocation;
using te::AxisKind;

namespace {

int64_t iterations(Draft& d, int stage, size_t first, size_t count) {
  int64_t n = 1;
  for (size_t k = first; k < first + count; ++k) n *= d.extent(stage, d.stage(stage).iters[k]);
  return n;
}

/// First loops of a stage from `first` on that can be one parallel loop, at most 16 iterations a core or one loop more.
size_t parallel_loops(Draft& d, int stage, size_t first) {
  const std::vector<schedule::Iter>& loops = d.stage(stage).iters;
  size_t count = 0;
  int64_t n = 1;
  for (size_t k = first; k < loops.size(); ++k) {
    if (loops[k].kind == AxisKind::reduce || loops[k].annotation != Annotation::none) break;
    n *= d.extent(stage, loops[k]);
    ++count;
    if (n > kPiecesPerCore * std::max(1, d.target.cores) || has_attached(d.s, stage, k)) break;
  }
  return count;
}

/// The outermost loops of a stage from `first` on as one parallel loop; where those run once, those of what is computed in them, and the loops inside.
Expected<void> make_parallel(Draft& d, int stage, size_t first) {
  const size_t count = parallel_loops(d, stage, first);
  if (count == 0) return {};
  const size_t last = first + count - 1;
  if (iterations(d, stage, first, count) == 1 && has_attached(d.s, stage, last)) {
    std::vector<int> inside;
    for (int i = 0; i < d.stages(); ++i)
      if (d.stage(i).location == ComputeLocation::at && d.stage(i).at_stage == stage && d.stage(i).at_iter->same_as(d.stage(stage).iters[last].var)) inside.push_back(i);
    for (const int i : inside) TW_CHECK(make_parallel(d, i, 0));
    return make_parallel(d, stage, last + 1);
  }
  if (count > 1) {
    schedule::FuseStep fuse{stage, {}};
    for (size_t k = first; k <= last; ++k) fuse.iters.push_back(static_cast<int>(k));
    TW_CHECK(d.s.append(fuse));
  }
  return d.s.append(schedule::AnnotationStep{stage, static_cast<int>(first), Annotation::parallel});
}

Expected<void> make_roots_parallel(Draft& d) {
  for (int i = 0; i < d.stages(); ++i)
    if (schedule::has_loops(d.stage(i)) && d.stage(i).location == ComputeLocation::root) TW_CHECK(make_parallel(d, i, 0));
  return {};
}

}  // namespace

AnnotationRule parallel_annotation() {
  return {"parallel", true, false, make_roots_parallel, "Spreads the outermost loops of each stage that is computed by itself over the cores."};
}

}  // namespace tw::space
