// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>
#include <numeric>

#include "engine/space/templates/cuda/dense.h"

namespace tw::space::cuda {

namespace {

/// Tiles under way or in use where copies go on beside other work.
constexpr int kArrays = 3;
/// Multiply-adds that are unrolled at most: beside so many the loop costs next to nothing, and NVIDIA's compiler takes a third of a second.
constexpr int64_t kUnrolledSteps = 512;
/// Of one sum; each brings loads with it.
constexpr int64_t kUnrolledTerms = 32;

DType type_of(const te::Dag& dag) { return dag.ops[static_cast<size_t>(dense_anchor(dag)->reduce)].output->dtype; }

/// Tiles are turned on the way to shared memory, so copies beside other work are of single elements: neighbouring threads copy neighbours, to different banks.
/// The hardware copies no less than 4 bytes.
Tiling ahead_tiling(const ConfigEntity& e, const Target& target, DType type) {
  const std::vector<int64_t>& k = e.split("tile_k");
  const int64_t depth = k[1] * k[2];
  Tiling t;
  t.axes = {axis_tile(e, "tile_x"), axis_tile(e, "tile_y")};
  t.directions = {kY, kX};
  t.reduce = {depth};
  t.terms_outside = true;
  if (target.gpu->capability >= kCopiesAhead && type == kFloat32) {
    t.pipeline = kArrays;
  } else {
    t.double_buffer = true;
    // Vectors that leave no thread without one: tiles of 16-bit floats have fewer bytes.
    const auto threads = t.threads();
    for (size_t k = 0; k < 2; ++k) {
      const int64_t each = t.axes[k].span() * depth / (threads[kX] * threads[kY]);
      t.vector[k] = std::gcd(std::gcd(kVectorBytes / type.bytes(), depth), std::max<int64_t>(1, each));
    }
  }
  t.max_unroll = std::min(kUnrolledSteps, kUnrolledTerms * t.axes[0].vthreads * t.axes[0].inner * t.axes[1].vthreads * t.axes[1].inner);
  t.unroll_part = true;
  return t;
}

bool dense_large_batch_matches(const te::Dag& dag, const Target&) {
  const auto a = dense_anchor(dag);
  return a && rows_of(dag, *a) >= kLargeBatch;
}

ConfigSpace dense_large_batch_space(const te::Dag& dag, const Target& target) {
  const cpu::Anchor a = *dense_anchor(dag);
  ConfigSpace space;
  space.define_split("tile_x", rows_of(dag, a), {.num_outputs = 4, .help = "rows: blocks, virtual threads, threads, of a thread"});
  space.define_split("tile_y", columns_of(dag, a), {.num_outputs = 4, .help = "columns: blocks, virtual threads, threads, of a thread"});
  space.define_split("tile_k", depth_of(dag, a), {.num_outputs = 3, .help = "terms: the last two factors are in shared memory at a time"});
  const DType type = type_of(dag);
  add_limits(
      space, target, [target, type](const ConfigEntity& e) { return ahead_tiling(e, target, type); },
      [target, type](const ConfigEntity& e) {
        const Tiling t = ahead_tiling(e, target, type);
        return std::max(t.pipeline, 2) * (padded_row(t.axes[0].span(), type) + padded_row(t.axes[1].span(), type)) * t.reduce[0] * type.bytes();
      });
  return space;
}

Expected<schedule::Schedule> dense_large_batch_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return tiled_schedule(dag, *dense_anchor(*dag), ahead_tiling(e, target, type_of(*dag)));
}

ConfigEntity dense_large_batch_fallback(const te::Dag& dag, const Target& target) {
  const ConfigSpace space = dense_large_batch_space(dag, target);
  const cpu::Anchor a = *dense_anchor(dag);
  return busy_point(
      target,
      {{{-1, 2, 16, 4}, {-1, 2, 16, 4}, {-1, 2, 4}},
       {{-1, 2, 16, 2}, {-1, 2, 16, 2}, {-1, 4, 4}},
       {{-1, 1, 16, 2}, {-1, 2, 16, 2}, {-1, 8, 4}},
       {{-1, 1, 16, 2}, {-1, 1, 16, 2}, {-1, 8, 4}},
       {{-1, 1, 8, 2}, {-1, 1, 16, 2}, {-1, 8, 4}}},
      [&](const TileLimits& l) {
        return limited_point(space, {{"tile_x", l.rows}, {"tile_y", l.columns}, {"tile_k", l.terms}}, {});
      },
      [&](const ConfigEntity& e) {
        const Tiling t = ahead_tiling(e, target, type_of(dag));
        return rows_of(dag, a) / t.axes[0].span() * (columns_of(dag, a) / t.axes[1].span());
      });
}

}  // namespace

Template dense_large_batch() {
  return {
      "dense_large_batch.gpu",
      dense_large_batch_matches,
      dense_large_batch_space,
      dense_large_batch_apply,
      dense_large_batch_fallback,
      "AutoTVM's dense layer for many rows on GPUs. Blocks compute tiles of the result; the next tiles of the operands are fetched while these are multiplied.",
      kAutotvm};
}

}  // namespace tw::space::cuda
