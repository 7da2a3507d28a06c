// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/tensorcore.h"

#include <algorithm>

#include "engine/space/fallback.h"

namespace tw::space::cuda {

using schedule::Annotation;
using schedule::Builder;

namespace {

/// mma.sync of 16 x 8 x 16 came with it.
constexpr int kCapability = 80;
constexpr int kMostArrays = 4;
/// Registers for addresses and counters.
constexpr int64_t kOtherRegisters = 24;
/// Bytes that a gap moves the rows of a tile against each other, within twice as many: eight rows of 16 bytes then lie in different banks.
constexpr int64_t kGapBytes = 16;

struct Product {
  int64_t batch, rows, columns, depth;
  WarpOperands operands;
};

std::optional<Product> product_of(const te::Dag& dag, const cpu::Anchor& a, DType type) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const size_t rank = op.axes.size();
  if (a.pad >= 0 || rank < 2) return std::nullopt;
  Product p{1, op.axes[rank - 2].extent, op.axes[rank - 1].extent, op.reduce_axes[0].extent, {.type = type, .columns_inside = op.tag != "dense"}};
  for (size_t d = 0; d + 2 < rank; ++d) p.batch *= op.axes[d].extent;
  return p;
}

/// Of an anchor that was found to be one.
Product product_of(const te::Dag& dag, const cpu::Anchor& a) { return *product_of(dag, a, dag.ops[static_cast<size_t>(a.data)].output->dtype); }

}  // namespace

int64_t WarpTiling::threads() const { return tall * wide * target::kWarp; }
int64_t WarpTiling::registers() const { return rows * columns / target::kWarp + (rows + columns) / 4 + kOtherRegisters; }

int64_t WarpOperands::step() const { return std::max<int64_t>(kWarpTile, target::mma_depth(type, type)); }

WarpTiling WarpOperands::tiling(const ConfigEntity& e) const {
  const int64_t m = e.integer("wmma_m"), n = kWarpTile * kWarpTile / m;
  return {e.integer("block_row_warps"),
          e.integer("block_col_warps"),
          m * e.integer("warp_row_tiles"),
          n * e.integer("warp_col_tiles"),
          kWarpTile * e.integer("chunk"),
          e.integer("offset") > 0 ? kGapBytes / type.bytes() : 0,
          e.integer(vector)};
}

int64_t WarpOperands::tile_bytes(const WarpTiling& t) const {
  const auto elements = [&](int64_t lines, bool inside) { return inside ? t.depth * (lines + t.gap) : lines * (t.depth + t.gap); };
  return (elements(t.block_rows(), rows_inside) + elements(t.block_columns(), columns_inside)) * type.bytes();
}

int WarpOperands::arrays(const WarpTiling& t, const Target& target) const {
  const target::GpuArch& arch = target::gpu_arch(target.gpu->capability);
  const int64_t blocks = std::clamp<int64_t>(arch.registers_per_multiprocessor / (t.threads() * t.registers()), 1, 2);
  const int64_t room = std::min<int64_t>(arch.shared_opt_in, arch.shared_per_multiprocessor / blocks - arch.shared_reserved);
  return static_cast<int>(std::clamp<int64_t>(room / tile_bytes(t), 1, kMostArrays));
}

std::optional<cpu::Anchor> warp_anchor(const te::Dag& dag, const Target& target, std::string_view tag, te::Role weight, DType& type) {
  if (!target.gpu || target.gpu->capability < kCapability) return std::nullopt;
  for (const DType sum : {kFloat16, kBFloat16, kFloat32, kInt32}) {
    const auto a = cpu::find_anchor(dag, tag, weight, sum);
    if (!a || (sum == kFloat32 && !target.allows_tf32())) continue;
    const DType data = dag.ops[static_cast<size_t>(a->data)].output->dtype, other = dag.ops[static_cast<size_t>(a->weight)].output->dtype;
    if (target::mma_depth(data, other) == 0 || (sum != data && sum != target::mma_sum(data))) continue;
    type = data;
    return a;
  }
  return std::nullopt;
}

void define_warp_knobs(ConfigSpace& space, const WarpOperands& operands, bool offset_cs) {
  space.define_knob("block_row_warps", {1, 2, 4}, "warps of a block along the rows");
  space.define_knob("block_col_warps", {1, 2, 4}, "warps of a block along the columns");
  space.define_knob("warp_row_tiles", {1, 2, 4}, "tiles of a warp along the rows");
  space.define_knob("warp_col_tiles", {1, 2, 4}, "tiles of a warp along the columns");
  space.define_knob("chunk", {1, 2, 4, 8}, "terms in shared memory at a time, in sixteens");
  space.define_knob("offset", {0, 8}, "more than 0: 16 bytes after each row of a tile, against bank conflicts");
  if (offset_cs) space.define_knob("offsetCS", {0, 8}, "as in AutoTVM; results are not staged in shared memory");
  space.define_knob(operands.vector, {1, 2, 4, 8}, "elements that a thread copies at once");
  space.define_knob("wmma_m", {16, 8, 32}, "rows of a tile; its columns are 256 over it");
}

void add_warp_filters(ConfigSpace& space, const Target& target, const WarpOperands& operands) {
  space.add_filter(
      [operands](const ConfigEntity& e) {
        const WarpTiling t = operands.tiling(e);
        return t.rows % kWarpTile == 0 && t.columns % kWarpTile == 0 && t.depth % operands.step() == 0;
      },
      "a warp computes less than a tile of 16 by 16, or adds up less than an instruction does");
  space.add_filter(
      [operands](const ConfigEntity& e) {
        const WarpTiling t = operands.tiling(e);
        const int64_t step = t.threads() * t.vector;
        return t.block_rows() * t.depth % step == 0 && t.block_columns() * t.depth % step == 0;
      },
      "the threads of a block copy more than a tile");
  space.add_filter(
      [operands](const ConfigEntity& e) {
        const WarpTiling t = operands.tiling(e);
        return t.registers() <= target::kMaxThreadRegisters && t.registers() * t.threads() <= target::kMaxBlockRegisters;
      },
      "the results of a thread do not fit its registers");
  const int64_t most = target::gpu_arch(target.gpu->capability).shared_opt_in;
  space.add_filter([operands, most](const ConfigEntity& e) { return operands.tile_bytes(operands.tiling(e)) <= most; },
                   "the tiles do not fit the shared memory of a block");
}

ir::Var share_among_warps(Builder& b, int out, const WarpResult& result, const WarpTiling& t) {
  // In sixteens, so that what is left of a short axis is a multiple of them.
  const auto r = b.split(out, result.rows, {t.tall, t.rows / kWarpTile, 2, 8}), c = b.split(out, result.columns, {t.wide, t.columns / kWarpTile, 2, 4, 2});
  std::vector<ir::Var> order = result.batch;
  for (const ir::Var& v : {r[0], c[0], r[1], c[1], r[2], r[3], c[2], c[3], r[4], c[4], c[5]}) order.push_back(v);
  b.reorder(out, order);
  if (result.batch.size() > 1)
    b.bind(out, b.fuse(out, result.batch), Annotation::block_z);
  else if (result.batch.size() == 1)
    b.bind(out, result.batch.front(), Annotation::block_z);
  b.bind(out, r[0], result.rows_along_x ? Annotation::block_x : Annotation::block_y);
  b.bind(out, c[0], result.rows_along_x ? Annotation::block_y : Annotation::block_x);
  b.bind(out, r[1], Annotation::thread_z);
  b.bind(out, c[1], Annotation::thread_y);
  b.bind(out, b.fuse(out, {r[4], c[4]}), Annotation::thread_x);
  if (result.pairs) b.vectorize(out, c[5]);
  return c[1];
}

ir::Var multiply_by_warps(Builder& b, int sums, const std::vector<ir::Var>& outside, const std::vector<ir::Var>& lines, const ir::Var& terms,
                          const WarpOperands& operands, const WarpTiling& t) {
  std::vector<ir::Var> others = b.loops(sums);
  const auto k = b.split(sums, terms, {t.depth / operands.step(), operands.step()});
  std::vector<ir::Var> together = outside;
  together.push_back(k[0]);
  std::vector<ir::Var> order = together;
  order.push_back(k[1]);
  // Axes of one element beside rows and columns.
  for (const ir::Var& v : others) {
    const auto is = [&](const ir::Var& x) { return x.same_as(v); };
    if (!is(terms) && std::none_of(outside.begin(), outside.end(), is) && std::none_of(lines.begin(), lines.end(), is)) order.push_back(v);
  }
  order.insert(order.end(), lines.begin(), lines.end());
  order.push_back(k[2]);
  b.reorder(sums, order);
  b.unroll(sums, k[1]);
  b.tensorize(sums, lines[0]);
  return together.size() > 1 ? b.fuse(sums, together) : k[0];
}

void copy_by_block(Builder& b, int tile, const std::vector<ir::Var>& order, int sums, const ir::Var& step, const WarpOperands& operands, const WarpTiling& t,
                   int64_t vector, int arrays) {
  if (t.gap > 0) b.storage_align(tile, order[order.size() - 2], 2 * kGapBytes / operands.type.bytes(), t.gap);
  b.compute_at(tile, sums, step);
  b.reorder(tile, order);
  const auto f = b.split(tile, b.fuse(tile, order), {t.tall, t.wide, target::kWarp, vector});
  b.bind(tile, f[1], Annotation::thread_z);
  b.bind(tile, f[2], Annotation::thread_y);
  b.bind(tile, f[3], Annotation::thread_x);
  if (vector > 1) b.vectorize(tile, f[4]);
  if (arrays > 1) b.pipeline(tile, arrays);
}

std::optional<ConfigEntity> point_of_shape(const ConfigSpace& space, const Target& target, const WarpOperands& operands, const std::array<int, 4>& shape) {
  // Deep tiles have fewer barriers, three of them hide the memory.
  for (const int chunk : {4, 2, 1})
    for (const int vec : {8, 4, 2, 1}) {
      std::vector<std::pair<std::string, Json>> values{{"block_row_warps", shape[0]},
                                                       {"block_col_warps", shape[1]},
                                                       {"warp_row_tiles", shape[2]},
                                                       {"warp_col_tiles", shape[3]},
                                                       {"chunk", chunk},
                                                       {"offset", 8},
                                                       {operands.vector, vec},
                                                       {"wmma_m", kWarpTile}};
      if (std::any_of(space.knobs().begin(), space.knobs().end(), [](const Knob& k) { return k.name == "offsetCS"; })) values.emplace_back("offsetCS", 0);
      ConfigEntity e = point_with(space, values);
      if (space.filtered_reason(e).empty() && (chunk == 1 || operands.arrays(operands.tiling(e), target) >= 3)) return e;
    }
  return std::nullopt;
}

std::optional<cpu::Anchor> tensorcore_anchor(const te::Dag& dag, const Target& target, std::string_view tag, te::Role weight) {
  DType type;
  const auto a = warp_anchor(dag, target, tag, weight, type);
  const auto p = a ? product_of(dag, *a, type) : std::nullopt;
  return p && p->rows % kWarpTile == 0 && p->columns % kWarpTile == 0 && p->depth % p->operands.step() == 0 ? a : std::nullopt;
}

ConfigSpace tensorcore_space(const te::Dag& dag, const Target& target, const cpu::Anchor& a) {
  const Product p = product_of(dag, a);
  ConfigSpace space;
  define_warp_knobs(space, p.operands, true);
  space.add_filter(
      [p](const ConfigEntity& e) {
        const WarpTiling t = p.operands.tiling(e);
        return p.rows % t.block_rows() == 0 && p.columns % t.block_columns() == 0 && p.depth % t.depth == 0;
      },
      "the tiles of a block do not divide the matrices");
  add_warp_filters(space, target, p.operands);
  return space;
}

Expected<schedule::Schedule> tensorcore_apply(const te::DagPtr& dag, const Target& target, const cpu::Anchor& a, const ConfigEntity& e) {
  const Product p = product_of(*dag, a);
  const WarpTiling t = p.operands.tiling(e);
  const auto name_of = [&](int op) { return dag->ops[static_cast<size_t>(op)].name; };
  Builder b(dag);
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
  const std::vector<ir::Var> axes = b.loops(out);
  const ir::Var rows = axes[axes.size() - 2];
  b.compute_at(sums, out, share_among_warps(b, out, {{axes.begin(), axes.end() - 2}, rows, axes.back()}, t));
  const std::vector<ir::Var> loops = b.loops(sums);
  const ir::Var step = multiply_by_warps(b, sums, {}, {loops[loops.size() - 3], loops[loops.size() - 2]}, loops.back(), p.operands, t);
  for (const std::string& name : tiles) {
    const int tile = b.stage(name);
    copy_by_block(b, tile, b.loops(tile), sums, step, p.operands, t, t.vector, p.operands.arrays(t, target));
  }
  return std::move(b).finish();
}

ConfigEntity tensorcore_fallback(const te::Dag& dag, const Target& target, const cpu::Anchor& a) {
  const ConfigSpace space = tensorcore_space(dag, target, a);
  const Product p = product_of(dag, a);
  ConfigEntity best;
  // Warps of 64 x 64 read shared memory least; smaller ones where there is less to do.
  for (const std::array<int, 4>& shape : kWarpShapes) {
    auto found = point_of_shape(space, target, p.operands, shape);
    if (!found) continue;
    const WarpTiling t = p.operands.tiling(*found);
    best = std::move(*found);
    if (p.batch * (p.rows / t.block_rows()) * (p.columns / t.block_columns()) >= target.gpu->multiprocessors) break;
  }
  return best;
}

}  // namespace tw::space::cuda
