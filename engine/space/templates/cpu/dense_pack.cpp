// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/json.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cpu {

namespace {

struct DenseShape {
  int64_t m, n, k, lanes;
  int64_t vectors() const { return (n + lanes - 1) / lanes; }
  /// The last vector of columns is not whole: its weights are padded, its results masked.
  bool ragged() const { return n % lanes != 0; }
};

DenseShape dense_shape(const te::Dag& dag, const Anchor& a, const Target& target) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const int64_t n = op.output->shape[1], full = target.lanes(kFloat32), block = dividing_lanes(n, target);
  // A width that only short vectors divide is worth a masked tail, if that is a small part of it.
  const int64_t lanes = 2 * block < full && n >= 8 * full ? full : block;
  return {op.output->shape[0], n, op.reduce_axes.front().extent, lanes};
}

/// Rows of A at a stride that is a multiple of 4 KiB fall into few cache sets; more rows than ways evict each other.
bool conflict_free(int64_t rows, int64_t row_bytes, const Target& target) {
  const int64_t set_span = target.l1d_bytes / target.l1d_ways;
  const int64_t g = std::gcd(row_bytes, set_span);
  if (g < 64) return true;
  return rows <= target.l1d_ways * (set_span / g);
}

/// What passes through the level-2 cache with `rows` of A in a block, relative to reading everything once: all weights for each block,
/// and of the rows, again for each panel, what that cache does not keep beside it. Rows come in many short streams, and what the last level does not hold comes
/// from memory: both cost more.
double traffic(const DenseShape& s, int64_t rows, const Target& target) {
  constexpr double kMemory = 3, kStreams = 2;  // about, for one core
  constexpr int64_t kPanelVectors = 3;         // of most panels
  const auto cost = [&](int64_t bytes) { return bytes > target.l3_bytes / 2 ? kMemory : 1.0; };
  const int64_t columns = kPanelVectors * s.lanes, weights = s.n * s.k * 4, all_rows = s.m * s.k * 4, block = rows * s.k * 4, panel = columns * s.k * 4;
  const double lost = std::clamp(static_cast<double>(block + panel) / static_cast<double>(target.l2_bytes) - 0.5, 0.0, 1.0);
  const auto passes = static_cast<double>((s.m + rows - 1) / rows), panels = static_cast<double>(s.n) / static_cast<double>(columns);
  const double again = std::max(1.0, lost * kStreams * panels) * cost(block);
  return (passes * cost(weights) * static_cast<double>(weights) + again * static_cast<double>(all_rows)) / static_cast<double>(weights + all_rows);
}

bool dense_pack_matches(const te::Dag& dag, const Target& target) {
  const auto a = find_anchor(dag, "dense");
  return a && a->pad < 0 && dense_shape(dag, *a, target).lanes > 1;
}

ConfigSpace dense_pack_space(const te::Dag& dag, const Target& target) {
  const Anchor a = *find_anchor(dag, "dense");
  const DenseShape s = dense_shape(dag, a, target);
  ConfigSpace space;
  std::vector<std::vector<int64_t>> rows, columns;
  for (const int64_t r : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28})
    if (r <= s.m) rows.push_back({-1, r});
  for (const int64_t c : {1, 2, 3, 4, 5, 6, 8, 10, 12})
    if (s.vectors() % c == 0) columns.push_back({-1, c * s.lanes});
  space.define_split("tile_y", s.m, {.num_outputs = 2, .policy = "candidate", .candidates = rows, .help = "rows of the register tile"});
  space.define_split("tile_x", s.n, {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "columns of the register tile, whole vectors"});
  std::vector<Json> row_blocks;
  for (const int64_t r : {56, 112, 120, 224})
    if (r < s.m) row_blocks.emplace_back(r);
  row_blocks.emplace_back(s.m);
  space.define_knob("rows_block", row_blocks, "rows of A that stay in cache while panels of B pass");
  space.define_knob("panel_outer", s.ragged() ? std::vector<Json>{1} : std::vector<Json>{0, 1},
                    "1: a panel of B passes over all rows of the block before the next panel is loaded");
  space.define_knob("unroll_k", up_to({1, 2, 4}, s.k), "steps of the reduction written out");
  const int64_t lanes = s.lanes, k = s.k;
  space.add_filter([lanes, target](const ConfigEntity& e) { return fits_registers(e.split("tile_y")[1], e.split("tile_x")[1] / lanes, target); },
                   "the register tile does not fit the vector registers");
  space.add_filter([k, target](const ConfigEntity& e) { return conflict_free(e.split("tile_y")[1], k * 4, target); },
                   "rows of A evict each other from the level-1 cache");
  return space;
}

ConfigEntity dense_pack_fallback(const te::Dag& dag, const Target& target) {
  const DenseShape s = dense_shape(dag, *find_anchor(dag, "dense"), target);
  return dense_pack_space(dag, target).best_by([&](const ConfigEntity& e) {
    const int64_t rows = e.split("tile_y")[1], vectors = e.split("tile_x")[1] / s.lanes, block = e.integer("rows_block");
    const int64_t tasks = ((s.m + block - 1) / block) * (s.vectors() / vectors);
    // One row has no reuse of weights: what counts is that panels are long streams, and that the reduction's loop is not most of the work.
    const int64_t unroll = s.m == 1 && s.k >= 4 ? 4 : 1;
    const bool plain = e.integer("unroll_k") == unroll && e.integer("panel_outer") == 1;
    return tile_rate(rows, vectors) * filled(s.m, rows) * balanced(tasks, target) + (plain ? 10 : 0) - 0.1 * std::log2(traffic(s, block, target));
  });
}

Expected<schedule::Schedule> dense_pack_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Anchor a = *find_anchor(*dag, "dense");
  const DenseShape s = dense_shape(*dag, a, target);
  const int64_t rows = e.split("tile_y")[1], columns = e.split("tile_x")[1];
  schedule::Builder b(dag);
  b.layout(a.weight, {{0, 0}, {1, 0}, {0, columns}});  // [N / columns][K][columns]
  inline_epilogue(b, a);
  int out = 0;
  const int acc = accumulator_stage(b, a, out);

  const auto axes = b.loops(out);
  const auto n = b.split(out, axes[1], {columns / s.lanes, s.lanes});
  const int64_t tiles = (e.integer("rows_block") + rows - 1) / rows;
  const auto m = b.split(out, axes[0], {tiles, rows});
  const bool panel_outer = e.integer("panel_outer") != 0;
  if (s.ragged())
    b.reorder(out, {n[0], m[0], m[1], m[2], n[1], n[2]});
  else
    b.reorder(out, panel_outer ? std::vector{m[0], n[0], m[1], m[2], n[1], n[2]} : std::vector{m[0], m[1], n[0], m[2], n[1], n[2]});
  b.compute_at(acc, out, panel_outer ? m[1] : n[0]);
  b.unroll(out, m[2]);
  b.unroll(out, n[1]);
  b.vectorize(out, n[2]);
  // Panels alone, where the last one is not whole: the others are told from it by one comparison.
  b.parallel(out, s.ragged() ? n[0] : b.fuse(out, {m[0], panel_outer ? n[0] : m[1]}));

  const auto inner = b.loops(acc);  // m, n, k
  const auto j = b.split(acc, inner[1], {s.lanes});
  const int64_t unroll = e.integer("unroll_k");
  if (unroll > 1) {
    const auto k = b.split(acc, inner[2], {unroll});
    b.reorder(acc, {k[0], k[1], inner[0], j[0], j[1]});
    b.unroll(acc, k[1]);
  } else {
    b.reorder(acc, {inner[2], inner[0], j[0], j[1]});
  }
  b.unroll(acc, inner[0]);
  b.unroll(acc, j[0]);
  b.vectorize(acc, j[1]);
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
