// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>
#include <numeric>

#include "engine/space/templates/cuda/tiles.h"

namespace tw::space::cuda {

namespace {

std::optional<cpu::Anchor> anchor_of(const te::Dag& dag) {
  const auto a = find_anchor(dag, "batch_matmul", te::Role::activation);
  return a ? a : find_anchor(dag, "matmul", te::Role::activation);
}

const te::Op& product(const te::Dag& dag) { return dag.ops[static_cast<size_t>(anchor_of(dag)->reduce)]; }

/// Of a product of these axes, those before its rows and columns among them.
Tiling product_tiling(const ConfigEntity& e, const te::Op& op) {
  const size_t batches = op.axes.size() - 2;
  Tiling t;
  t.axes.assign(batches, AxisTile{});
  t.axes.insert(t.axes.end(), {axis_tile(e, "tile_y"), axis_tile(e, "tile_x")});
  t.directions.assign(batches, kZ);
  t.directions.insert(t.directions.end(), {kY, kX});
  t.reduce = {e.split("tile_k").back()};
  set_unroll(t, e);
  if (const int64_t bytes = op.output->dtype.bytes(); bytes < kFloat32.bytes()) {
    const auto threads = t.threads();
    const int64_t rows = t.axes[batches].span(), columns = t.axes[batches + 1].span(), depth = t.reduce[0], total = threads[kX] * threads[kY];
    const auto vector = [&](int64_t tile, int64_t elements, int64_t row) {
      return std::gcd(std::gcd(kVectorBytes / bytes, std::gcd(elements, row)), std::max<int64_t>(1, tile / total));
    };
    t.vector = {vector(rows * depth, depth, op.reduce_axes[0].extent), vector(depth * columns, columns, op.axes.back().extent)};
  }
  return t;
}

bool batch_matmul_matches(const te::Dag& dag, const Target&) {
  const auto a = anchor_of(dag);
  return a && a->pad < 0 && product(dag).axes.size() >= 2;
}

ConfigSpace batch_matmul_space(const te::Dag& dag, const Target& target) {
  const te::Op op = product(dag);
  const size_t batches = op.axes.size() - 2;
  ConfigSpace space;
  space.define_split("tile_y", op.axes[batches].extent, {.num_outputs = 3, .help = "rows: blocks, threads, of a thread"});
  space.define_split("tile_x", op.axes[batches + 1].extent, {.num_outputs = 3, .help = "columns: blocks, threads, of a thread"});
  space.define_split("tile_k", op.reduce_axes[0].extent, {.num_outputs = 2, .help = "terms in shared memory at a time"});
  define_unroll(space, {8, 16, 32, 64});
  add_limits(
      space, target, [op](const ConfigEntity& e) { return product_tiling(e, op); },
      [op](const ConfigEntity& e) {
        const Tiling t = product_tiling(e, op);
        return (t.axes[t.axes.size() - 2].span() + t.axes.back().span()) * t.reduce[0] * op.output->dtype.bytes();
      });
  return space;
}

Expected<schedule::Schedule> batch_matmul_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return tiled_schedule(dag, *anchor_of(*dag), product_tiling(e, product(*dag)));
}

ConfigEntity batch_matmul_fallback(const te::Dag& dag, const Target& target) {
  const ConfigSpace space = batch_matmul_space(dag, target);
  const te::Op& op = product(dag);
  return busy_point(
      target,
      {{{-1, 16, 4}, {-1, 16, 4}, {-1, 16}}, {{-1, 16, 2}, {-1, 16, 4}, {-1, 32}}, {{-1, 16, 2}, {-1, 16, 2}, {-1, 32}}, {{-1, 8, 2}, {-1, 16, 2}, {-1, 32}}},
      [&](const TileLimits& l) {
        return limited_point(space, {{"tile_k", l.terms}, {"tile_y", l.rows}, {"tile_x", l.columns}}, {{"auto_unroll_max_step", 64}, {"unroll_explicit", 0}});
      },
      [&](const ConfigEntity& e) {
        const Tiling t = product_tiling(e, op);
        return op.output->num_elements() / (t.axes[t.axes.size() - 2].span() * t.axes.back().span());
      });
}

}  // namespace

Template batch_matmul() {
  return {"batch_matmul.cuda",
          batch_matmul_matches,
          batch_matmul_space,
          batch_matmul_apply,
          batch_matmul_fallback,
          "AutoTVM's batched matrix product for GPUs. Blocks compute tiles of the result from tiles of both operands in shared memory.",
          kAutotvm};
}

}  // namespace tw::space::cuda
