// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/base/rng.h"
#include "engine/lower/loop_extents.h"
#include "engine/space/access.h"
#include "engine/space/sketch/sketch.h"
#include "engine/target/gpu.h"

/// Numbers for sketches: random lengths, places, parallel loops, vectors and threads.
/// Source: the annotation of Ansor (Zheng et al., OSDI 2020), in the order of TVM 0.9.
namespace tw::space {

struct DrawOptions {
  int max_innermost = 64;  ///< iterations of an innermost loop
  int max_vector = 16;     ///< iterations of a vectorised loop; more where a register has more lanes, unless `exact`
  double uneven = 0.15;    ///< share of splits whose lengths need not divide the extent; none with `exact`
  bool move_stages = true;  ///< on processors, stages that are not tiled are computed anywhere
  bool exact = false;      ///< as TVM 0.9 does it, also where that loses
};

/// A sketch on its way to a schedule.
struct Draft {
  const Sketch& sketch;
  const Target& target;
  const DrawOptions& options;
  Rng& rng;
  schedule::Schedule s;
  std::optional<lower::LoopExtents> known = {};  ///< of the schedule as it once was

  /// How often a loop runs, as lowering finds it. Marks and joined loops do not change that of others, so that places alone ask for a refresh().
  int64_t extent(int stage, const schedule::Iter& it) {
    if (!known) refresh();
    return known->of(stage, it);
  }
  void refresh() { known.emplace(s); }

  const schedule::Stage& stage(int i) const { return s.stages()[static_cast<size_t>(i)]; }
  int stages() const { return static_cast<int>(s.stages().size()); }
  bool needs_tiling(int i) const { return Access(s.stages()).needs_tiling(i, options.exact); }
};

/// One row of the table.
struct AnnotationRule {
  const char* name;
  bool cpu, gpu;  ///< what it is for
  /// Errors: why these numbers allow no legal schedule.
  Expected<void> (*apply)(Draft&);
  const char* summary;  ///< one sentence
};
/// In the order in which they are applied, after lengths have been drawn.
std::span<const AnnotationRule> annotation_rules();

/// A random schedule of a sketch. Errors: illegal_schedule for what its numbers do not allow; another draw may do.
Expected<schedule::Schedule> random_schedule(const Sketch& sketch, const Target& target, const DrawOptions& options, Rng& rng);

/// Interleaved threads of one thread at most: a quarter of a warp.
inline constexpr int64_t kMaxVirtualThreads = target::kWarp / 4;
/// What a thread of a GPU loads at once.
inline constexpr int64_t kMaxVectorBytes = 16;
/// Threads that a block of tiles has at least: a warp, but for results of few elements.
int64_t least_threads(int64_t elements);
/// Innermost iterations that a split may have: more where they are bound to threads.
int64_t innermost_limit(const DrawOptions& options, bool threads);
/// Stores up to which loops are written out, to choose from.
std::span<const int64_t> unroll_choices(const Target& target);
/// Whether a stage's loops are other than its axes.
bool is_tiled(const schedule::Stage& st);
/// Whether something is computed in that loop.
bool has_attached(const schedule::Schedule& s, int stage, size_t loop);
/// A loop that a stage can be computed in.
struct Place {
  int stage, loop;
  friend bool operator==(const Place&, const Place&) = default;
};
/// Where a stage that is read in the loops of one other can be computed beside its own place; `consumer` -1: nowhere.
std::vector<Place> places_of(const schedule::Schedule& s, const lower::LoopExtents& extents, int consumer);

// Each in its file.
AnnotationRule compute_location_annotation();
AnnotationRule parallel_annotation();
AnnotationRule thread_annotation();
AnnotationRule unroll_annotation();
AnnotationRule vector_annotation();

}  // namespace tw::space
