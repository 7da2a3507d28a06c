// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/json.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/cpu/blocked.h"
#include "engine/target/cpu_table.h"

namespace tw::space::cpu {

namespace {

struct DenseShape {
  int64_t m, n, k, lanes, bytes;  ///< bytes: of an element
  int64_t vectors() const { return blocks_for(n, lanes); }
  /// The last vector of columns is not whole: its weights are padded, its results masked.
  bool ragged() const { return n % lanes != 0; }
  /// Sums that are worth taking apart: a part is still long beside what it costs to add it up.
  bool long_sums() const { return m > 1 && k >= 1024; }
};

std::optional<Anchor> dense_anchor(const te::Dag& dag) {
  const auto a = find_anchor(dag, "dense");
  return a ? a : find_anchor(dag, "dense", te::Role::constant, kFloat64);
}

DenseShape dense_shape(const te::Dag& dag, const Anchor& a, const Target& target) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const int64_t n = op.output->shape[1];
  return {op.output->shape[0], n, op.reduce_axes.front().extent, column_lanes(n, target, op.output->dtype), op.output->dtype.bytes()};
}

/// Whether a register tile's rows of A stay in cache beside the weights that pass through its sets: about a line of each set while a line of A is in use, and the next
/// one on its way.
bool rows_stay(int64_t rows, int64_t row_bytes, const Target& target) { return rows + 2 <= lines_for_rows(row_bytes, target); }

/// What a tile of all rows has before others, about, where weights come from memory: it reads them once, from end to end, and so ahead. Measured on a Xeon
/// with 16 MB: 16 rows 1.8 to 1.25 ms, 24 rows 1.82 to 1.70, 8 rows with AVX2 1.80 to 1.26, 12 rows with SSE 3.27 to 3.39.
constexpr double kReadOnce = 0.15;

/// How the operands pass by each other.
struct Passes {
  int64_t rows;   ///< of A in a block
  int64_t parts;  ///< of the reduction, one after the other
  bool copied;    ///< A is copied first
};

/// What of the level-2 cache rows can fill that lie so many bytes apart, of which each part of the reduction takes some: the sets where such pieces begin, and those behind
/// them. By the geometry; a copy that begins in all sets costs little and gained little where it was measured (Zen 3, 128 rows of 2,048 elements in 4 parts: 34.8 ms, copied
/// 34.3; in one part, where rows collide in the level-1 cache alone, 38.5 and 32.8).
double share_of_sets(int64_t row_bytes, int64_t depth_bytes) {
  constexpr int64_t kSpan = 64 * 1024;  // of the sets of one way: 32 KB to 128 KB
  const int64_t apart = std::gcd(row_bytes, kSpan);
  return static_cast<double>(std::min(depth_bytes, apart)) / static_cast<double>(apart);
}

/// What passes through the level-2 cache, relative to reading everything once: all weights for each block of rows, and of the rows, again for each panel, what
/// that cache does not keep beside it; the sums of every part, and the copy. Rows come in many short streams, and what the last level does not hold comes from
/// memory: both cost more.
double traffic(const DenseShape& s, const Passes& p, const Target& target) {
  constexpr double kMemory = 3, kStreams = 2;  // about, for one core
  constexpr int64_t kPanelVectors = 3;         // of most panels
  const auto cost = [&](int64_t bytes) { return bytes > target.l3_bytes / 2 ? kMemory : 1.0; };
  const int64_t depth = (s.k + p.parts - 1) / p.parts;
  const int64_t columns = kPanelVectors * s.lanes, weights = s.n * s.k * s.bytes, all_rows = s.m * s.k * s.bytes, block = p.rows * depth * s.bytes, panel = columns * depth * s.bytes;
  const double room = static_cast<double>(target.l2_bytes) * (p.copied ? 1 : share_of_sets(s.k * s.bytes, depth * s.bytes));
  const double lost = std::clamp(static_cast<double>(block + panel) / room - 0.5, 0.0, 1.0);
  const auto passes = static_cast<double>((s.m + p.rows - 1) / p.rows), panels = static_cast<double>(s.n) / static_cast<double>(columns);
  const double again = std::max(1.0, lost * kStreams * panels) * cost(block);
  const int64_t more = (p.parts > 1 ? 2 * p.parts * s.m * s.n * s.bytes : 0) + (p.copied ? 2 * all_rows : 0);
  return (passes * cost(weights) * static_cast<double>(weights) + again * static_cast<double>(all_rows) + static_cast<double>(more)) /
         static_cast<double>(weights + all_rows);
}

/// Columns whose sums of all parts, of a block of rows, are computed together: they stay in a quarter of the level-2 cache until they are added up, and leave something
/// to do for every core.
int64_t columns_together(const DenseShape& s, int64_t rows, int64_t parts, int64_t columns, const Target& target) {
  const int64_t fit = target.l2_bytes / 4 / (parts * std::min(rows, s.m) * columns * s.bytes);
  return columns * std::clamp<int64_t>(fit, 1, std::max<int64_t>(1, blocks_for(s.n, columns) / std::max(1, target.cores)));
}

/// Whether some register tile has rows that do not stay in the level-1 cache where they lie.
bool rows_may_collide(const DenseShape& s, const Target& target) {
  return s.m > 1 && !rows_stay(std::min<int64_t>(s.m, target.vector_registers / 2), s.k * s.bytes, target);
}

bool dense_pack_matches(const te::Dag& dag, const Target& target) {
  const auto a = dense_anchor(dag);
  return a && a->pad < 0 && dense_shape(dag, *a, target).lanes > 1;
}

ConfigSpace dense_pack_space(const te::Dag& dag, const Target& target) {
  const Anchor a = *dense_anchor(dag);
  const DenseShape s = dense_shape(dag, a, target);
  ConfigSpace space;
  std::vector<std::vector<int64_t>> rows, columns;
  for (const int64_t r : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28})
    if (r <= s.m) rows.push_back({-1, r});
  const std::vector<int64_t> panels{1, 2, 3, 4, 5, 6, 7, 8, 10, 12};
  for (const Json& c : s.ragged() ? panel_widths(panels, s.vectors()) : dividing(panels, s.vectors())) columns.push_back({-1, c.get<int64_t>() * s.lanes});
  space.define_split("tile_y", s.m, {.num_outputs = 2, .policy = "candidate", .candidates = rows, .help = "rows of the register tile"});
  space.define_split("tile_x", s.n, {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "columns of the register tile, whole vectors"});
  std::vector<Json> row_blocks;
  for (const int64_t r : {56, 112, 120, 224})
    if (r < s.m) row_blocks.emplace_back(r);
  row_blocks.emplace_back(s.m);
  space.define_knob("rows_block", row_blocks, "rows of A that stay in cache while panels of B pass");
  space.define_knob("panel_outer", {0, 1}, "1: a panel of B passes over all rows of the block before the next panel is loaded");
  space.define_knob("unroll_k", up_to({1, 2, 4}, s.k), "steps of the reduction written out");
  space.define_knob("copy_rows", rows_may_collide(s, target) ? std::vector<Json>{0, 1} : std::vector<Json>{0},
                    "1: A is copied first to where its rows fall into different sets of the level-1 cache");
  space.define_knob("parts_k", s.long_sums() ? std::vector<Json>{1, 2, 4} : std::vector<Json>{1},
                    "parts of the reduction, each computed for the whole result before the next one, and added up in the end");
  const int64_t lanes = s.lanes, row_bytes = s.k * s.bytes;
  space.add_filter([lanes, target](const ConfigEntity& e) { return fits_registers(e.split("tile_y")[1], e.split("tile_x")[1] / lanes, target); },
                   "the register tile does not fit the vector registers");
  space.add_filter([row_bytes, target](const ConfigEntity& e) { return e.integer("copy_rows") != 0 || e.split("tile_y")[1] <= lines_for_rows(row_bytes, target); },
                   "rows of A evict each other from the level-1 cache");
  return space;
}

ConfigEntity dense_pack_fallback(const te::Dag& dag, const Target& target) {
  const DenseShape s = dense_shape(dag, *dense_anchor(dag), target);
  // Dot products, by rule, have vectors along the reduction: faster for few columns, and where so few sums are under way that each step waits for the one before.
  // Measured on a Xeon: the one with vectors of 512 and of 256 bits, the other with 512.
  if (3 * s.n * s.bytes <= target.vector_bits / 8 || 2 * s.m * s.vectors() < target::pipes_of(target.cpu).in_flight()) return {};
  const ConfigSpace all = dense_pack_space(dag, target);
  ConfigSpace open = all;  // what is left to choose
  open.define_knob("unroll_k", {up_to({1, 2, kWrittenTerms}, s.k).back()});
  open.define_knob("panel_outer", {1});
  const ConfigEntity best = open.best_by([&](const ConfigEntity& e) {
    const int64_t rows = e.split("tile_y")[1], vectors = e.split("tile_x")[1] / s.lanes, block = e.integer("rows_block");
    const Passes passes{block, e.integer("parts_k"), e.integer("copy_rows") != 0};
    const int64_t columns = vectors * s.lanes, together = passes.parts > 1 ? columns_together(s, block, passes.parts, columns, target) : columns;
    const int64_t tasks = blocks_for(s.m, block) * blocks_for(s.n, together);
    const bool stay = passes.copied || rows_stay(rows, s.k * s.bytes, target);
    const bool once = rows >= s.m && s.n * s.k * s.bytes > target.l2_bytes;
    return tile_rate(rows, vectors, target) * filled(s.m, rows) * filled(s.vectors(), vectors) * balanced(tasks, target) + (once ? kReadOnce : 0) -
           (stay ? 0 : kCollisions) - 0.1 * std::log2(traffic(s, passes, target));
  });
  return best.index() < 0 ? best : all.from_json(best.json_text()).value();
}

/// The sums of the parts of the reduction, for each block of rows and some columns once their parts are there. The loop in which those are computed.
ir::Var add_parts(schedule::Builder& b, int acc, int out, const DenseShape& s, int64_t rows, int64_t columns) {
  const auto axes = b.loops(out);
  const auto m = b.split(out, axes[0], {std::min(rows, s.m)});
  const auto n = b.split(out, axes[1], {columns / s.lanes, s.lanes});
  b.reorder(out, {m[0], n[0], m[1], n[1], n[2]});
  b.compute_at(acc, out, n[1]);
  b.vectorize(out, n[2]);
  const ir::Var group = b.fuse(out, {m[0], n[0]});
  b.parallel(out, group);
  const auto sums = b.loops(acc);  // m, n, part
  b.reorder(acc, {sums[0], sums[2], sums[1]});
  b.unroll(acc, sums[2]);
  b.vectorize(acc, sums[1]);
  return group;
}

/// A copy of A whose neighbouring rows are one line further apart than a span of the level-1 cache's sets.
void copy_rows(schedule::Builder& b, int data, int reader, const Target& target) {
  const int copy = b.cache_read(data, {reader}, "global");
  const auto axes = b.loops(copy);
  const int64_t element = b.at(copy).op.output->dtype.bytes();
  b.storage_align(copy, axes[0], target.l1d_bytes / target.l1d_ways / element, kCacheLine / element);
  const auto k = b.split(copy, axes[1], {target.lanes(b.at(copy).op.output->dtype)});
  b.vectorize(copy, k[1]);
  b.parallel(copy, axes[0]);
}

Expected<schedule::Schedule> dense_pack_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  Anchor a = *dense_anchor(*dag);
  const DenseShape s = dense_shape(*dag, a, target);
  const int64_t rows = e.split("tile_y")[1], columns = e.split("tile_x")[1], parts = e.integer("parts_k");
  const bool panel_outer = e.integer("panel_outer") != 0, whole = parts == 1;
  schedule::Builder b(dag);
  int part = 0;  // the sums of each part of the reduction, [parts][M][N]
  if (whole) {
    b.layout(a.weight, {{0, 0}, {1, 0}, {0, columns}});  // [N / columns][K][columns]
  } else {
    const int64_t depth = (s.k + parts - 1) / parts;
    b.layout(a.weight, {{1, 0}, {0, 0}, {1, depth}, {0, columns}});  // the same for each part
    part = b.rfactor(a.reduce, b.split(a.reduce, b.loops(a.reduce)[2], {depth})[0]);
    a.output += 1;
    a.reduce += 1;
  }
  inline_epilogue(b, a);
  int out = 0;
  int acc = accumulator_stage(b, a, out), tiled = out;
  if (!whole) {
    const int64_t block = rows * tiles_of_block(s.m, rows, e.integer("rows_block"));
    const ir::Var group = add_parts(b, acc, out, s, block, columns_together(s, block, parts, columns, target));
    acc = b.cache_write(part, "local");  // a stage more before the others
    tiled = part + 1;
    b.compute_at(tiled, out + 1, group);
  }

  std::vector<ir::Var> axes = b.loops(tiled), order;
  const size_t at = whole ? 0 : 1;
  const auto n = b.split(tiled, axes[at + 1], {columns / s.lanes, s.lanes});
  std::vector<ir::Var> m = whole ? b.split(tiled, axes[at], {tiles_of_block(s.m, rows, e.integer("rows_block")), rows}) : b.split(tiled, axes[at], {rows});
  order.push_back(whole ? m.front() : axes[0]);  // blocks of rows are outside the parts
  if (whole) m.erase(m.begin());
  order.insert(order.end(), {panel_outer ? n[0] : m[0], panel_outer ? m[0] : n[0], m[1], n[1], n[2]});
  b.reorder(tiled, order);
  b.compute_at(acc, tiled, order[2]);
  b.unroll(tiled, m[1]);
  b.unroll(tiled, n[1]);
  b.vectorize(tiled, n[2]);
  if (whole) b.parallel(tiled, b.fuse(tiled, {order[0], order[1]}));

  if (s.ragged()) rules::whole_blocks(b, acc, static_cast<int>(at) + 1, columns);  // weights are padded
  std::vector<ir::Var> inner = b.loops(acc);  // part, m, n, k
  const auto j = b.split(acc, inner[at + 1], {s.lanes});
  std::vector<ir::Var> walk(inner.begin(), inner.begin() + static_cast<std::ptrdiff_t>(at));
  const auto k = write_out_terms(b, acc, inner.back(), e.integer("unroll_k"));
  walk.insert(walk.end(), k.begin(), k.end());
  walk.insert(walk.end(), {inner[at], j[0], j[1]});
  b.reorder(acc, walk);
  b.unroll(acc, inner[at]);
  b.unroll(acc, j[0]);
  b.vectorize(acc, j[1]);
  if (e.integer("copy_rows") != 0) copy_rows(b, a.data, acc, target);
  return std::move(b).finish();
}

}  // namespace

Template dense_pack() {
  return {"dense_pack.cpu",
          dense_pack_matches,
          dense_pack_space,
          dense_pack_apply,
          dense_pack_fallback,
          "Matrix product with constant weights, packed ahead of time into panels a few vectors wide. A register tile of rows times columns is summed over the "
          "whole reduction before it is stored, with the elementwise work that follows applied on the way out.",
          "Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008"};
}

}  // namespace tw::space::cpu
