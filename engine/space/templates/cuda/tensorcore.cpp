// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/tensorcore.h"

#include <algorithm>
#include <array>

#include "engine/space/fallback.h"

namespace tw::space::cuda {

using schedule::Annotation;

namespace {

/// mma.sync of 16 x 8 x 16 came with it.
constexpr int kCapability = 80;
/// Extents of what a warp fetches at once, in all three directions.
constexpr int64_t kTile = 16;
constexpr int kMostArrays = 4;
/// Registers for addresses and counters.
constexpr int64_t kOtherRegisters = 24;

/// What the knobs mean.
struct WarpTiling {
  int64_t tall, wide;     ///< warps of a block
  int64_t rows, columns;  ///< of a warp
  int64_t depth;          ///< terms in shared memory at a time
  int64_t gap, vector;    ///< elements after a row of a tile, and that a thread copies at once
  int64_t block_rows() const { return tall * rows; }
  int64_t block_columns() const { return wide * columns; }
  int64_t threads() const { return tall * wide * target::kWarp; }
  /// Of a thread: sums, operands and the rest.
  int64_t registers() const { return rows * columns / target::kWarp + (rows + columns) / 4 + kOtherRegisters; }
};

WarpTiling warp_tiling(const ConfigEntity& e) {
  const int64_t m = e.integer("wmma_m"), n = kTile * kTile / m;
  return {e.integer("block_row_warps"),
          e.integer("block_col_warps"),
          m * e.integer("warp_row_tiles"),
          n * e.integer("warp_col_tiles"),
          kTile * e.integer("chunk"),
          e.integer("offset"),
          e.integer("vec")};
}

struct Product {
  int64_t batch, rows, columns, depth;
  bool by_row;  ///< the second operand is [columns, depth], not [depth, columns]
};

Product product_of(const te::Dag& dag, const cpu::Anchor& a) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const size_t rank = op.axes.size();
  Product p{1, op.axes[rank - 2].extent, op.axes[rank - 1].extent, op.reduce_axes[0].extent, op.tag == "dense"};
  for (size_t d = 0; d + 2 < rank; ++d) p.batch *= op.axes[d].extent;
  return p;
}

/// Bytes of shared memory for the tiles of both operands, once.
int64_t tile_bytes(const Product& p, const WarpTiling& t) {
  const int64_t b = p.by_row ? t.block_columns() * (t.depth + t.gap) : t.depth * (t.block_columns() + t.gap);
  return (t.block_rows() * (t.depth + t.gap) + b) * kFloat16.bytes();
}

/// As many as leave room for a second block where registers do.
int arrays_of(const Product& p, const WarpTiling& t, const Target& target) {
  const target::GpuArch& arch = target::gpu_arch(target.gpu->capability);
  const int64_t blocks = std::clamp<int64_t>(arch.registers_per_multiprocessor / (t.threads() * t.registers()), 1, 2);
  const int64_t room = std::min<int64_t>(arch.shared_opt_in, arch.shared_per_multiprocessor / blocks - arch.shared_reserved);
  return static_cast<int>(std::clamp<int64_t>(room / tile_bytes(p, t), 1, kMostArrays));
}

}  // namespace

std::optional<cpu::Anchor> tensorcore_anchor(const te::Dag& dag, const Target& target, std::string_view tag, te::Role weight) {
  if (!target.gpu || target.gpu->capability < kCapability) return std::nullopt;
  for (const DType type : {kFloat16, kBFloat16}) {
    const auto a = cpu::find_anchor(dag, tag, weight, type);
    if (!a || a->pad >= 0 || dag.ops[static_cast<size_t>(a->reduce)].axes.size() < 2) continue;
    const Product p = product_of(dag, *a);
    if (p.rows % kTile == 0 && p.columns % kTile == 0 && p.depth % kTile == 0) return a;
  }
  return std::nullopt;
}

ConfigSpace tensorcore_space(const te::Dag& dag, const Target& target, const cpu::Anchor& a) {
  const Product p = product_of(dag, a);
  ConfigSpace space;
  space.define_knob("block_row_warps", {1, 2, 4}, "warps of a block along the rows");
  space.define_knob("block_col_warps", {1, 2, 4}, "warps of a block along the columns");
  space.define_knob("warp_row_tiles", {1, 2, 4}, "tiles of a warp along the rows");
  space.define_knob("warp_col_tiles", {1, 2, 4}, "tiles of a warp along the columns");
  space.define_knob("chunk", {1, 2, 4, 8}, "terms in shared memory at a time, in sixteens");
  space.define_knob("offset", {0, 8}, "elements after each row of a tile, against bank conflicts");
  space.define_knob("offsetCS", {0, 8}, "as in AutoTVM; results are not staged in shared memory");
  space.define_knob("vec", {1, 2, 4, 8}, "elements that a thread copies at once");
  space.define_knob("wmma_m", {16, 8, 32}, "rows of a tile; its columns are 256 over it");
  space.add_filter(
      [](const ConfigEntity& e) {
        const WarpTiling t = warp_tiling(e);
        return t.rows % kTile == 0 && t.columns % kTile == 0;
      },
      "a warp computes less than a tile of 16 by 16");
  space.add_filter(
      [p](const ConfigEntity& e) {
        const WarpTiling t = warp_tiling(e);
        return p.rows % t.block_rows() == 0 && p.columns % t.block_columns() == 0 && p.depth % t.depth == 0;
      },
      "the tiles of a block do not divide the matrices");
  space.add_filter(
      [](const ConfigEntity& e) {
        const WarpTiling t = warp_tiling(e);
        const int64_t step = t.threads() * t.vector;
        return t.block_rows() * t.depth % step == 0 && t.block_columns() * t.depth % step == 0;
      },
      "the threads of a block copy more than a tile");
  space.add_filter(
      [](const ConfigEntity& e) {
        const WarpTiling t = warp_tiling(e);
        return t.registers() <= target::kMaxThreadRegisters && t.registers() * t.threads() <= target::kMaxBlockRegisters;
      },
      "the results of a thread do not fit its registers");
  const int64_t most = target::gpu_arch(target.gpu->capability).shared_opt_in;
  space.add_filter([p, most](const ConfigEntity& e) { return tile_bytes(p, warp_tiling(e)) <= most; }, "the tiles do not fit the shared memory of a block");
  return space;
}

Expected<schedule::Schedule> tensorcore_apply(const te::DagPtr& dag, const Target& target, const cpu::Anchor& a, const ConfigEntity& e) {
  const WarpTiling t = warp_tiling(e);
  const Product p = product_of(*dag, a);
  const auto name_of = [&](int op) { return dag->ops[static_cast<size_t>(op)].name; };
  schedule::Builder b(dag);
  cpu::inline_epilogue(b, a);
  std::vector<std::string> tiles;
  for (const int operand : {a.data, a.weight}) {
    const int tile = b.cache_read(b.stage(name_of(operand)), {b.stage(name_of(a.reduce))}, "shared");
    if (!b.ok()) return std::move(b).finish();
    tiles.push_back(b.at(tile).op.name);
  }
  const int sums_at_first = b.cache_write(b.stage(name_of(a.reduce)), "local");
  if (!b.ok()) return std::move(b).finish();
  const std::string sums_name = b.at(sums_at_first).op.name;
  if (a.output != a.reduce) b.compute_inline(b.stage(name_of(a.reduce)));
  const int out = b.stage(name_of(a.output)), sums = b.stage(sums_name);

  // A lane holds pairs of columns of every eighth row: mma.sync's layout of sums.
  const std::vector<ir::Var> axes = b.loops(out);
  const auto batches = static_cast<std::ptrdiff_t>(axes.size()) - 2;
  const auto r = b.split(out, axes[axes.size() - 2], {t.tall, t.rows / 8, 8}), c = b.split(out, axes.back(), {t.wide, t.columns / 8, 4, 2});
  std::vector<ir::Var> order(axes.begin(), axes.begin() + batches);
  for (const ir::Var& v : {r[0], c[0], r[1], c[1], r[2], c[2], r[3], c[3], c[4]}) order.push_back(v);
  b.reorder(out, order);
  if (batches > 1)
    b.bind(out, b.fuse(out, {axes.begin(), axes.begin() + batches}), Annotation::block_z);
  else if (batches == 1)
    b.bind(out, axes.front(), Annotation::block_z);
  b.bind(out, r[0], Annotation::block_y);
  b.bind(out, c[0], Annotation::block_x);
  b.bind(out, r[1], Annotation::thread_z);
  b.bind(out, c[1], Annotation::thread_y);
  b.bind(out, b.fuse(out, {r[3], c[3]}), Annotation::thread_x);
  b.vectorize(out, c[4]);
  b.compute_at(sums, out, c[1]);

  const std::vector<ir::Var> loops = b.loops(sums);
  const auto k = b.split(sums, loops.back(), {t.depth / kTile, kTile});
  std::vector<ir::Var> inner{k[0], k[1]};
  inner.insert(inner.end(), loops.begin(), loops.end() - 1);
  inner.push_back(k[2]);
  b.reorder(sums, inner);
  b.unroll(sums, k[1]);
  b.tensorize(sums, loops[loops.size() - 3]);
  const int arrays = arrays_of(p, t, target);
  for (const std::string& name : tiles) {
    const int tile = b.stage(name);
    const std::vector<ir::Var> own = b.loops(tile);
    if (t.gap > 0) b.storage_align(tile, own[own.size() - 2], kTile, t.gap);
    b.compute_at(tile, sums, k[0]);
    const auto f = b.split(tile, b.fuse(tile, own), {t.tall, t.wide, target::kWarp, t.vector});
    b.bind(tile, f[1], Annotation::thread_z);
    b.bind(tile, f[2], Annotation::thread_y);
    b.bind(tile, f[3], Annotation::thread_x);
    if (t.vector > 1) b.vectorize(tile, f[4]);
    if (arrays > 1) b.pipeline(tile, arrays);
  }
  return std::move(b).finish();
}

ConfigEntity tensorcore_fallback(const te::Dag& dag, const Target& target, const cpu::Anchor& a) {
  const ConfigSpace space = tensorcore_space(dag, target, a);
  const Product p = product_of(dag, a);
  const auto point = [&](const std::array<int, 4>& warps, int chunk, int vec) {
    return point_with(space, {{"block_row_warps", warps[0]},
                              {"block_col_warps", warps[1]},
                              {"warp_row_tiles", warps[2]},
                              {"warp_col_tiles", warps[3]},
                              {"chunk", chunk},
                              {"offset", 8},
                              {"offsetCS", 0},
                              {"vec", vec},
                              {"wmma_m", kTile}});
  };
  ConfigEntity best;
  // Warps of 64 x 64 read shared memory least; smaller ones where there is less to do.
  for (const std::array<int, 4>& warps : {std::array{2, 4, 4, 4}, {2, 2, 4, 4}, {2, 2, 4, 2}, {2, 2, 2, 2}, {2, 2, 2, 1}, {2, 1, 1, 1}, {1, 1, 1, 1}}) {
    std::optional<ConfigEntity> found;
    // Deep tiles have fewer barriers, three of them hide the memory.
    for (const int chunk : {4, 2, 1})
      for (const int vec : {8, 4, 2}) {
        ConfigEntity e = point(warps, chunk, vec);
        if (!found && space.filtered_reason(e).empty() && (chunk == 1 || arrays_of(p, warp_tiling(e), target) >= 3)) found = std::move(e);
      }
    if (!found) continue;
    const WarpTiling t = warp_tiling(*found);
    best = std::move(*found);
    if (p.batch * (p.rows / t.block_rows()) * (p.columns / t.block_columns()) >= target.gpu->multiprocessors) break;
  }
  return best;
}

}  // namespace tw::space::cuda
