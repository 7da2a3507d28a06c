// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/draw.h"

namespace tw::space {

using schedule::Annotation;
using te::AxisKind;

namespace {

/// Of an innermost loop that is longer than a vector the last piece, which TVM 0.9 leaves as it is.
Expected<void> split_off_vector(Draft& d, int stage, int64_t lanes) {
  const schedule::Stage& st = d.stage(stage);
  if (st.iters.empty()) return {};
  const int last = static_cast<int>(st.iters.size()) - 1;
  const schedule::Iter& it = st.iters.back();
  if (has_attached(d.s, stage, static_cast<size_t>(last)) || it.kind == AxisKind::reduce || it.annotation != Annotation::none) return {};
  TW_CHECK(d.s.append(schedule::SplitStep{stage, last, it.extent, {lanes}}));
  return d.s.append(schedule::AnnotationStep{stage, last + 1, Annotation::vectorize});
}

Expected<void> vectorize(Draft& d) {
  for (int i = 0; i < d.stages(); ++i) {
    const schedule::Stage& st = d.stage(i);
    if (!schedule::has_loops(st)) continue;
    const int64_t lanes = d.options.exact ? 0 : d.target.lanes(st.op.output->dtype);
    const int64_t most = std::max<int64_t>(d.options.max_vector, lanes);
    const bool tiled = is_tiled(st);
    int64_t n = 1;
    size_t count = 0;
    for (size_t k = st.iters.size(); k-- > 0;) {
      const schedule::Iter& it = st.iters[k];
      if (has_attached(d.s, i, k) || it.kind == AxisKind::reduce || it.annotation != Annotation::none || (tiled && count > 0)) break;
      n *= d.extent(i, it);
      if (n > most) break;
      ++count;
    }
    if (count == 0) {
      if (lanes > 1) TW_CHECK(split_off_vector(d, i, lanes));
      continue;
    }
    if (count > 1) count = 1 + d.rng.uniform(count - 1);
    const int first = static_cast<int>(st.iters.size() - count);
    if (count > 1) {
      schedule::FuseStep fuse{i, {}};
      for (size_t k = 0; k < count; ++k) fuse.iters.push_back(first + static_cast<int>(k));
      TW_CHECK(d.s.append(fuse));
    }
    TW_CHECK(d.s.append(schedule::AnnotationStep{i, first, Annotation::vectorize}));
  }
  return {};
}

}  // namespace

AnnotationRule vector_annotation() {
  return {"vectorize", true, false, vectorize, "Computes the innermost loop of each stage by vectors where it is short enough."};
}

}  // namespace tw::space
