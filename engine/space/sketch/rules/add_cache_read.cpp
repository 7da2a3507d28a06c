// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

/// Consumers that are tiled, read the array themselves, and whose threads do not reduce together.
std::vector<int> tiled_readers(const SketchState& s, int stage) {
  const Access reads = s.access();
  std::vector<int> out;
  for (const int c : reads.consumers(stage))
    if (s.needs_tiling(c) && s.schedule().stages()[static_cast<size_t>(c)].relations.size() > 1 && !s.has_cross_thread_reduction(c) &&
        reads.direct_producers(c).contains(stage))
      out.push_back(c);
  return out;
}

RuleFit fits_cache_read(const SketchState& s, int stage) {
  const std::set<int> consumers = s.access().consumers(stage);
  const std::vector<int> readers = tiled_readers(s, stage);
  // What is read elsewhere too needs its own array, beside the copies.
  return !readers.empty() && readers.front() == *consumers.begin() ? RuleFit::apply_and_end : RuleFit::skip;
}

/// The first loop of the reduction by which all of its axes have an outermost part.
int last_of_outermost_reduction(const schedule::Stage& st) {
  const size_t axes = st.op.reduce_axes.size();
  size_t seen = 0;
  for (size_t k = 0; k < st.iters.size(); ++k)
    if (st.iters[k].kind == te::AxisKind::reduce && ++seen == axes) return static_cast<int>(k);
  return -1;
}

Derived copy_to_shared(const SketchState& s, int stage) {
  SketchState next = s;
  // The last one first, so that the numbers of the others stay.
  std::vector<int> readers = tiled_readers(s, stage);
  for (size_t k = readers.size(); k-- > 0;) {
    const int loop = last_of_outermost_reduction(next.stage(readers[k]));
    if (loop < 0) continue;
    next.apply(schedule::CacheReadStep{stage, "shared", {readers[k]}});
    for (int& r : readers) ++r;
    next.apply(schedule::ComputeAtStep{stage + 1, readers[k], loop});
  }
  return {{next, next.schedule().steps().size() > s.schedule().steps().size() ? stage : stage - 1}};
}

}  // namespace

SketchRule add_cache_read_rule() {
  return {"add-cache-read", false, true, fits_cache_read, copy_to_shared,
          "Copies what a tile reads to memory that the threads of a block share, once for each turn of the reduction's outermost loops."};
}

}  // namespace tw::space
