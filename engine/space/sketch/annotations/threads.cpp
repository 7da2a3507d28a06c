// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/space/sketch/draw.h"
#include "engine/space/sketch/lengths.h"
#include "engine/target/gpu.h"

namespace tw::space {

using schedule::Annotation;
using schedule::ComputeLocation;
using te::AxisKind;

namespace {

bool reduces_by_threads(const schedule::Stage& st) {
  return std::any_of(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.kind == AxisKind::reduce && it.annotation == Annotation::thread_x; });
}

bool has_threads(const schedule::Stage& st) {
  return std::any_of(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.annotation == Annotation::thread_x; });
}

int64_t extent_of(const Draft& d, int stage, int loop) { return d.stage(stage).iters[static_cast<size_t>(loop)].extent; }

/// Joins loops [first, first + count) of a stage into one and binds it.
Expected<void> fuse_and_bind(Draft& d, int stage, int first, int count, Annotation to) {
  schedule::FuseStep fuse{stage, {}};
  for (int k = 0; k < count; ++k) fuse.iters.push_back(first + k);
  TW_CHECK(d.s.append(fuse));
  return d.s.append(schedule::AnnotationStep{stage, first, to});
}

/// Outermost spatial loops without a mark, up to one that something is computed in.
int outer_loops(const Draft& d, int stage) {
  const std::vector<schedule::Iter>& loops = d.stage(stage).iters;
  int count = 0;
  for (size_t k = 0; k < loops.size(); ++k) {
    if (loops[k].kind == AxisKind::reduce || loops[k].annotation != Annotation::none) break;
    ++count;
    if (has_attached(d.s, stage, k)) break;
  }
  return count;
}

Error too_many(const Draft& d, int stage, const char* what, int64_t most, int64_t found) {
  return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} {} of '{}', found {}", most, what, d.stage(stage).op.name, found));
}

/// The levels of tiles: blocks, virtual threads, threads.
Expected<void> bind_tiles(Draft& d, int stage) {
  const int axes = static_cast<int>(d.stage(stage).op.axes.size());
  int64_t elements = 1;
  for (const te::Axis& a : d.stage(stage).op.axes) elements *= a.extent;
  TW_CHECK(fuse_and_bind(d, stage, 0, axes, Annotation::block_x));
  TW_CHECK(fuse_and_bind(d, stage, 1, axes, Annotation::vthread));
  if (const int64_t found = extent_of(d, stage, 1); found > kMaxVirtualThreads) return too_many(d, stage, "virtual threads at most", kMaxVirtualThreads, found);
  TW_CHECK(fuse_and_bind(d, stage, 2, axes, Annotation::thread_x));
  const int64_t threads = extent_of(d, stage, 2);
  if (threads < least_threads(elements)) return too_many(d, stage, "threads at least", target::kWarp, threads);
  if (threads > target::kMaxBlockThreads) return too_many(d, stage, "threads at most", target::kMaxBlockThreads, threads);
  return {};
}

/// Stages without tiles: neighbouring elements by neighbouring threads.
Expected<void> bind_elements(Draft& d, int stage) {
  const int outer = outer_loops(d, stage);
  schedule::FuseStep fuse{stage, {}};
  for (int k = 0; k < outer; ++k) fuse.iters.push_back(k);
  TW_CHECK(d.s.append(fuse));
  const int64_t extent = extent_of(d, stage, 0);
  if (extent <= target::kWarp) return d.s.append(schedule::AnnotationStep{stage, 0, Annotation::thread_x});
  // A warp's worth is all that TVM 0.9 begins with.
  std::vector<int64_t> sizes{target::kWarp};
  for (int64_t n = 2 * target::kWarp; !d.options.exact && n <= target::kMaxBlockThreads && n < 2 * extent; n *= 2) sizes.push_back(n);
  TW_CHECK(d.s.append(schedule::SplitStep{stage, 0, extent, {sizes[d.rng.uniform(sizes.size())]}}));
  TW_CHECK(d.s.append(schedule::AnnotationStep{stage, 0, Annotation::block_x}));
  return d.s.append(schedule::AnnotationStep{stage, 1, Annotation::thread_x});
}

/// A copy to shared memory by all threads of the tile that it is for, a vector each.
Expected<void> bind_copy(Draft& d, int stage, const TiledStage& tile) {
  const lower::LoopExtents extents(d.s);
  schedule::FuseStep fuse{stage, {}};
  int64_t region = 1;
  for (size_t k = 0; k < d.stage(stage).iters.size(); ++k) {
    fuse.iters.push_back(static_cast<int>(k));
    region *= extents.of(stage, d.stage(stage).iters[k]);
  }
  TW_CHECK(d.s.append(fuse));
  const int64_t widest = kMaxVectorBytes / d.stage(stage).op.output->dtype.bytes();
  const int64_t width = d.options.exact || widest < 2 ? 1 : random_lengths(region, 1, widest, d.rng).front();
  TW_CHECK(d.s.append(schedule::SplitStep{stage, 0, region, {width}}));
  TW_CHECK(d.s.append(schedule::AnnotationStep{stage, 1, Annotation::vectorize}));
  TW_CHECK(d.s.append(schedule::FollowFusedSplitStep{stage, 0, {tile.splits.rbegin(), tile.splits.rend()}, 1}));
  return d.s.append(schedule::AnnotationStep{stage, 1, Annotation::thread_x});
}

const TiledStage* tile_of(const Draft& d, int stage) {
  for (const TiledStage& t : d.sketch.tiled)
    if (t.stage == d.stage(stage).op.name) return &t;
  return nullptr;
}

Expected<void> bind_threads(Draft& d) {
  std::set<int> tiled_roots;
  for (int i = 0; i < d.stages(); ++i)
    if (tile_of(d, i) && d.stage(i).location == ComputeLocation::at) tiled_roots.insert(schedule::root_of(d.s.stages(), i));
  for (int i = d.stages() - 1; i >= 0; --i) {
    const schedule::Stage& st = d.stage(i);
    if (!schedule::has_loops(st)) continue;
    const bool root = st.location == ComputeLocation::root;
    if (reduces_by_threads(st) || (root && has_threads(st))) {
      if (root) TW_CHECK(fuse_and_bind(d, i, 0, outer_loops(d, i), Annotation::block_x));
    } else if (has_threads(st)) {
      continue;
    } else if (root) {
      TW_CHECK(tiled_roots.contains(i) ? bind_tiles(d, i) : bind_elements(d, i));
    } else if (st.op.tag == "cache_read" && st.scope == ir::Scope::shared) {
      if (const TiledStage* tile = tile_of(d, st.at_stage)) TW_CHECK(bind_copy(d, i, *tile));
    }
  }
  return {};
}

}  // namespace

AnnotationRule thread_annotation() {
  return {"threads", false, true, bind_threads, "Binds tiles to blocks, virtual threads and threads, and spreads copies over the threads."};
}

}  // namespace tw::space
