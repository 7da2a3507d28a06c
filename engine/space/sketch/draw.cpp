// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/draw.h"

#include <algorithm>

#include "engine/space/sketch/lengths.h"
#include "engine/target/gpu.h"

namespace tw::space {

using schedule::ComputeLocation;
using te::AxisKind;

std::span<const AnnotationRule> annotation_rules() {
  static const AnnotationRule kRules[] = {
      compute_location_annotation(), parallel_annotation(), thread_annotation(), unroll_annotation(), vector_annotation(),
  };
  return kRules;
}

int64_t innermost_limit(const DrawOptions& options, bool threads) {
  return threads && !options.exact ? target::kMaxBlockThreads : options.max_innermost;
}

std::span<const int64_t> unroll_choices(const Target& target) {
  static constexpr int64_t kCpu[] = {0, 16, 64, 512}, kGpu[] = {0, 16, 64, 512, 1024};
  return target.gpu ? std::span<const int64_t>(kGpu) : std::span<const int64_t>(kCpu);
}

bool is_tiled(const schedule::Stage& st) { return st.iters.size() != st.op.axes.size() + st.op.reduce_axes.size(); }

bool has_attached(const schedule::Schedule& s, int stage, size_t loop) {
  const schedule::Iter& it = s.stages()[static_cast<size_t>(stage)].iters[loop];
  return std::any_of(s.stages().begin(), s.stages().end(), [&](const schedule::Stage& st) {
    return st.location == ComputeLocation::at && st.at_stage == stage && st.at_iter->same_as(it.var);
  });
}

namespace {

void draw_lengths(std::span<const int> splits, const DrawOptions& options, Rng& rng, std::vector<schedule::Step>& steps) {
  for (const int k : splits) {
    auto& split = std::get<schedule::SplitStep>(steps[static_cast<size_t>(k)]);
    const bool uneven = !options.exact && rng.uniform_real() < options.uneven;
    const int64_t limit = innermost_limit(options, false);
    split.lengths = (uneven ? random_uneven_lengths : random_lengths)(split.extent, split.lengths.size(), limit, rng);
  }
}

/// Whether a tile has as many virtual threads and threads as a block may.
bool fits_block(const TiledStage& tile, const std::vector<schedule::Step>& steps) {
  int64_t elements = 1, virtual_threads = 1, threads = 1;
  for (const int k : tile.splits) {
    const auto& split = std::get<schedule::SplitStep>(steps[static_cast<size_t>(k)]);
    if (split.lengths.size() < 2) return true;  // of a structure without them
    elements *= split.extent;
    virtual_threads *= split.lengths[0];
    threads *= split.lengths[1];
  }
  return virtual_threads <= kMaxVirtualThreads && threads <= target::kMaxBlockThreads && threads >= least_threads(elements);
}

/// A draw whose innermost tile is whole vectors, as many as there are registers; the first one where none is found. Others are drawn too, but seldom.
void draw_core_tile(const TiledStage& tile, const Target& target, const DrawOptions& options, Rng& rng, std::vector<schedule::Step>& steps) {
  constexpr double kShare = 0.8;
  constexpr int kTries = 20;
  if (tile.inner < 0 || rng.uniform_real() >= kShare) return;
  const auto at = [&](int k) -> schedule::SplitStep& { return std::get<schedule::SplitStep>(steps[static_cast<size_t>(k)]); };
  const int64_t lanes = target.lanes(), vectors = std::max<int64_t>(1, options.max_innermost / lanes);
  for (int k = 0; k < kTries; ++k) {
    if (k > 0) draw_lengths(tile.splits, options, rng, steps);
    schedule::SplitStep& inner = at(tile.inner);
    if (inner.extent % lanes == 0) {
      inner.lengths = random_lengths(inner.extent / lanes, inner.lengths.size(), vectors, rng);
      inner.lengths.back() *= lanes;
    }
    int64_t elements = 1;
    for (const int split : tile.splits) elements *= at(split).lengths.back();
    if (elements <= lanes * target.vector_registers) return;
  }
}

}  // namespace

int64_t least_threads(int64_t elements) { return elements > 2 * target::kWarp ? target::kWarp : 1; }

Expected<schedule::Schedule> random_schedule(const Sketch& sketch, const Target& target, const DrawOptions& options, Rng& rng) {
  // Most lengths make blocks that there cannot be: others are drawn before any step is applied, which leaves those that can be as likely as they are.
  constexpr int kTries = 400;
  std::vector<schedule::Step> steps = sketch.steps;
  DrawOptions lengths = options;
  if (sketch.whole) lengths.uneven = 0;
  draw_lengths(sketch.open, lengths, rng, steps);
  for (const TiledStage& tile : sketch.tiled)
    if (target.gpu)
      for (int k = 0; k < kTries && !fits_block(tile, steps); ++k) draw_lengths(tile.splits, options, rng, steps);
    else if (!options.exact)
      draw_core_tile(tile, target, options, rng, steps);
  TW_TRY(schedule::Schedule s, schedule::Schedule::replay(sketch.dag, steps));
  Draft draft{sketch, target, options, rng, std::move(s)};
  for (const AnnotationRule& rule : annotation_rules())
    if (target.gpu ? rule.gpu : rule.cpu) TW_CHECK(rule.apply(draft));
  return std::move(draft.s);
}

}  // namespace tw::space
