// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>

#include "engine/space/templates/cuda/tiles.h"

namespace tw::space::cuda {

using schedule::Annotation;
using schedule::Builder;

namespace {

constexpr int64_t kTaps = 3;
/// Threads of a block of the transforms, a tile each.
constexpr int64_t kTransformThreads = 128;
/// Channels from which on transforms are a small part of the work.
constexpr int64_t kManyChannels = 64;
/// Tiles from which on the transformed weights, of which there are more, are not most of what is read.
constexpr int64_t kManyTiles = 32;

struct TileGrid {
  int64_t in, out;      ///< channels
  int64_t tile, tiles;  ///< side of a tile of the result; tiles of all images
  int64_t points() const { return (tile + kTaps - 1) * (tile + kTaps - 1); }
};

TileGrid tile_grid(const te::Dag& dag) {
  const te::Op& op = dag.ops[static_cast<size_t>(cpu::find_anchor(dag, "conv2d")->reduce)];
  const std::vector<int64_t>& out = op.output->shape;
  // Larger tiles where they fit the image evenly, as TVM chooses.
  const int64_t m = out[2] % 8 == 0 ? 4 : 2;
  return {op.reduce_axes[0].extent, out[1], m, out[0] * ((out[2] + m - 1) / m) * ((out[3] + m - 1) / m)};
}

Tiling points_tiling(const ConfigEntity& e) {
  Tiling t;
  t.axes = {AxisTile{}, AxisTile{}, axis_tile(e, "tile_y"), axis_tile(e, "tile_x")};
  t.directions = {kZ, kZ, kY, kX};
  t.reduce = {e.split("tile_rc").back()};
  set_unroll(t, e);
  return t;
}

/// A thread for each iteration of some loops, which lie outermost; returns the thread's.
ir::Var thread_each(Builder& b, int stage, const std::vector<ir::Var>& loops) {
  const auto parts = b.split(stage, b.fuse(stage, loops), {kTransformThreads});
  b.bind(stage, parts[0], Annotation::block_x);
  b.bind(stage, parts[1], Annotation::thread_x);
  return parts[1];
}

/// What a thread computes for itself: all written out.
void within_thread(Builder& b, int stage, int outer, const ir::Var& thread) {
  b.compute_at(stage, outer, thread);
  for (const ir::Var& v : b.loops(stage)) b.unroll(stage, v);
}

bool conv2d_nchw_winograd_matches(const te::Dag& dag, const Target&) {
  const auto a = cpu::find_anchor(dag, "conv2d");
  if (!a) return false;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  const auto ones = [&](const char* name) {
    const auto it = op.attrs.find(name);
    return it == op.attrs.end() || std::all_of(it->second.begin(), it->second.end(), [](int64_t v) { return v == 1; });
  };
  return op.axes.size() == 4 && op.reduce_axes.size() == 3 && op.reduce_axes[1].extent == kTaps && op.reduce_axes[2].extent == kTaps && ones("strides") &&
         ones("dilations") && ones("groups") && dag.ops[static_cast<size_t>(a->data)].output->dtype == kFloat32 &&
         dag.ops[static_cast<size_t>(a->weight)].output->dtype == kFloat32;
}

ConfigSpace conv2d_nchw_winograd_space(const te::Dag& dag, const Target& target) {
  const TileGrid g = tile_grid(dag);
  ConfigSpace space;
  space.define_split("tile_b", g.points(),
                     {.num_outputs = 4,
                      .filter = [](const std::vector<int64_t>& f) { return f[1] == 1 && f[2] == 1 && f[3] == 1; },
                      .help = "points of a tile: a matrix product and a block each"});
  space.define_split("tile_y", g.out, {.num_outputs = 4, .help = "output channels: blocks, virtual threads, threads, of a thread"});
  space.define_split("tile_x", g.tiles, {.num_outputs = 4, .help = "tiles: blocks, virtual threads, threads, of a thread"});
  space.define_split("tile_rc", g.in, {.num_outputs = 2, .help = "input channels in shared memory"});
  define_unroll(space, {0, 128, 1500});
  add_limits(space, target, points_tiling, [](const ConfigEntity& e) {
    const Tiling t = points_tiling(e);
    return (t.axes[2].span() + t.axes[3].span()) * t.reduce[0] * kFloat32.bytes();
  });
  return space;
}

Expected<schedule::Schedule> conv2d_nchw_winograd_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  const cpu::Anchor a = *cpu::find_anchor(*dag, "conv2d");
  const TileGrid g = tile_grid(*dag);
  const auto name_of = [&](int op) { return dag->ops[static_cast<size_t>(op)].name; };
  Builder b(dag);
  if (a.pad >= 0) b.compute_inline(a.pad);
  const int pad = b.winograd(a.reduce, g.tile, true);
  b.layout(a.weight, {{2, 0}, {3, 0}, {1, 0}, {0, 0}});  // [x][y][I][O]: threads fetch neighbouring channels
  const int rows = pad + 1, data = pad + 2, product = pad + 3, columns = pad + 4;
  cpu::inline_epilogue(b, {.reduce = columns, .output = a.output + 5});
  if (!b.ok()) return std::move(b).finish();

  const auto d = b.loops(data);  // x, y, i, p
  b.reorder(data, {d[2], d[3], d[0], d[1]});
  b.unroll(data, d[0]);
  b.unroll(data, d[1]);
  const ir::Var image_tile = thread_each(b, data, {d[2], d[3]});
  within_thread(b, rows, data, image_tile);
  within_thread(b, pad, data, image_tile);

  const int out = a.output + 5;
  const auto axes = b.loops(out);  // n, o, h, w
  const auto h = b.split(out, axes[2], {g.tile}), w = b.split(out, axes[3], {g.tile});
  b.reorder(out, {axes[0], axes[1], h[0], w[0], h[1], w[1]});
  b.unroll(out, h[1]);
  b.unroll(out, w[1]);
  const ir::Var result_tile = thread_each(b, out, {axes[0], axes[1], h[0], w[0]});
  within_thread(b, columns, out, result_tile);
  const std::string out_name = b.at(out).op.name, columns_name = b.at(columns).op.name, product_name = b.at(product).op.name;
  const int sums = b.cache_read(product, {columns}, "local");
  if (!b.ok()) return std::move(b).finish();
  within_thread(b, sums, b.stage(out_name), result_tile);

  const int acc = b.cache_write(b.stage(product_name), "local");
  if (!b.ok()) return std::move(b).finish();
  tile_product(b, product_name, b.at(acc).op.name, {b.at(data).op.name, name_of(a.weight)}, points_tiling(e));
  return std::move(b).finish();
}

ConfigEntity conv2d_nchw_winograd_fallback(const te::Dag& dag, const Target& target) {
  const TileGrid g = tile_grid(dag);
  if (g.in < kManyChannels || g.out < kManyChannels || g.tiles < kManyTiles) return {};
  const ConfigSpace space = conv2d_nchw_winograd_space(dag, target);
  return busy_point(
      target, {{{-1, 1, 4, 8}, {-1, 1, 64, 2}, {-1, 8}}, {{-1, 1, 4, 4}, {-1, 1, 64, 1}, {-1, 16}}},
      [&](const TileLimits& l) {
        return limited_point(space, {{"tile_rc", l.terms}, {"tile_y", l.rows}, {"tile_x", l.columns}, {"tile_b", {-1, 1, 1, 1}}},
                             {{"auto_unroll_max_step", 1500}, {"unroll_explicit", 0}});
      },
      [&](const ConfigEntity& e) {
        const Tiling t = points_tiling(e);
        return g.points() * (g.out / t.axes[2].span()) * (g.tiles / t.axes[3].span());
      });
}

}  // namespace

Template conv2d_nchw_winograd() {
  return {"conv2d_nchw_winograd.cuda",
          conv2d_nchw_winograd_matches,
          conv2d_nchw_winograd_space,
          conv2d_nchw_winograd_apply,
          conv2d_nchw_winograd_fallback,
          "AutoTVM's convolution with a 3x3 window by Winograd's algorithm for GPUs, in three launches: tiles are transformed, multiplied point by point as "
          "matrix products, and transformed back, with 2.25 or 4 times fewer multiplications. Weights are transformed ahead of time.",
          "Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016; TVM v0.9.0 (names, knobs and order)"};
}

}  // namespace tw::space::cuda
