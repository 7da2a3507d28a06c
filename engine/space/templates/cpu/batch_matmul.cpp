// SPDX-License-Identifier: Apache-2.0
// Products of two activations, [..., M, K] times [..., K, N], both read where they lie, as attention is made of, or of activations and weights of each batch entry,
// as layers of experts.
#include <cmath>

#include "engine/space/templates/templates.h"

#include "engine/space/rules/rules.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cpu {

namespace {

std::optional<Anchor> anchor_of(const te::Dag& dag) {
  auto a = find_anchor(dag, "batch_matmul", te::Role::activation);
  if (!a) a = find_anchor(dag, "matmul", te::Role::activation);
  if (!a) a = find_anchor(dag, "batch_matmul");  // a single matrix of weights is a dense layer
  for (const char* tag : {"batch_matmul", "matmul"})
    if (!a) a = find_anchor(dag, tag, te::Role::activation, kFloat32, true);
  return a && a->pad < 0 ? a : std::nullopt;
}

struct MatmulShape {
  int64_t batch = 1, m, n, k, lanes;
  bool weights;  ///< B is constant: its panels are packed ahead of time
  bool turned;   ///< B lies transposed: its panels are turned as they are copied
  int64_t vectors() const { return (n + lanes - 1) / lanes; }
  int64_t panel_bytes(int64_t columns) const { return k * columns * 4; }
};

/// What of its rate a register tile loses, about, whose results are written in short pieces far apart, where sums of up to kShortSum make them most of the memory;
/// and for each doubling of what passes through the level-2 cache.
constexpr double kPieces = 0.15, kTraffic = 0.02;
constexpr int64_t kShortSum = 64;

/// Whether the rows of a panel of B, lying as far apart as they do, share less than a quarter of the level-1 cache and evict each other there, and there are enough
/// rows of A to make up for copying.
bool copies_pay(const MatmulShape& s, const Target& target) {
  constexpr int64_t kPanelVectors = 2;  // of narrow panels
  const int64_t lines = lines_for_rows(s.n * 4, target), wide = std::max<int64_t>(1, kPanelVectors * s.lanes * 4 / kCacheLine);
  return !s.weights && s.m >= 2 * target.lanes(kFloat32) && s.k > lines && wide * lines < target.l1d_bytes / kCacheLine / 4;
}

/// What passes through the level-2 cache for each element that has to: operands that it does not hold come again for every block of rows, or for every panel.
double traffic(const MatmulShape& s, int64_t rows, int64_t columns, bool panel_outer, const Target& target) {
  const int64_t a = s.m * s.k * 4, b = s.k * s.n * 4, room = target.l2_bytes * 3 / 4;
  const int64_t again_a = panel_outer && a + s.panel_bytes(columns) > room ? (s.n + columns - 1) / columns : 1;
  const int64_t again_b = !panel_outer && b + rows * s.k * 4 > room ? (s.m + rows - 1) / rows : 1;
  return static_cast<double>(again_a * a + again_b * b) / static_cast<double>(a + b);
}

MatmulShape matmul_shape(const te::Dag& dag, const Anchor& a, const Target& target) {
  const std::vector<int64_t>& out = dag.ops[static_cast<size_t>(a.reduce)].output->shape;
  MatmulShape s{1, out[out.size() - 2], out.back(), dag.ops[static_cast<size_t>(a.reduce)].reduce_axes.front().extent, column_lanes(out.back(), target),
                dag.ops[static_cast<size_t>(a.weight)].role == te::Role::constant, a.turned >= 0};
  for (size_t d = 0; d + 2 < out.size(); ++d) s.batch *= out[d];
  return s;
}

bool batch_matmul_matches(const te::Dag& dag, const Target& target) {
  const auto a = anchor_of(dag);
  // One, two or four columns, of less than half a vector, are left to the rule, which masks the tail of one.
  return a && 2 * matmul_shape(dag, *a, target).lanes >= target.lanes();
}

ConfigSpace batch_matmul_space(const te::Dag& dag, const Target& target) {
  const MatmulShape s = matmul_shape(dag, *anchor_of(dag), target);
  ConfigSpace space;
  std::vector<std::vector<int64_t>> rows, columns;
  for (const int64_t r : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16})
    if (r <= s.m) rows.push_back({-1, r});
  for (const int64_t c : {1, 2, 3, 4, 5, 6, 7, 8})
    if (s.vectors() % c == 0) columns.push_back({-1, c * s.lanes});
  space.define_split("tile_y", s.m, {.num_outputs = 2, .policy = "candidate", .candidates = rows, .help = "rows of the register tile"});
  space.define_split("tile_x", s.n, {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "columns of the register tile, whole vectors"});
  space.define_knob("panel_outer", {0, 1}, "1: a panel of columns passes over all rows before the next one; 0: a block of rows over all columns");
  space.define_knob("copy_panel", s.turned ? std::vector<Json>{1} : copies_pay(s, target) ? std::vector<Json>{0, 1} : std::vector<Json>{0},
                    "1: a panel of columns is copied first to where its rows follow each other");
  space.define_knob("unroll_k", up_to({1, 2, 4}, s.k), "steps of the reduction written out");
  const int64_t lanes = s.lanes;
  space.add_filter([](const ConfigEntity& e) { return e.integer("copy_panel") == 0 || e.integer("panel_outer") != 0; }, "a copy of a panel that passes over one block of rows");
  space.add_filter([lanes, target](const ConfigEntity& e) { return fits_registers(e.split("tile_y")[1], e.split("tile_x")[1] / lanes, target); },
                   "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity batch_matmul_fallback(const te::Dag& dag, const Target& target) {
  const MatmulShape s = matmul_shape(dag, *anchor_of(dag), target);
  return batch_matmul_space(dag, target).best_by([&](const ConfigEntity& e) {
    const int64_t rows = e.split("tile_y")[1], vectors = e.split("tile_x")[1] / s.lanes;
    const bool panel_outer = e.integer("panel_outer") != 0;
    const int64_t tasks = s.batch * (panel_outer ? s.vectors() / vectors : (s.m + rows - 1) / rows);
    const bool copied = e.integer("copy_panel") != 0, collide = !copied && copies_pay(s, target) && s.panel_bytes(vectors * s.lanes) <= target.l2_bytes / 2;
    const bool in_pieces = panel_outer && s.batch * s.m * s.n * 4 > target.l2_bytes;
    const double pieces = in_pieces ? kPieces * std::min(1.0, static_cast<double>(kShortSum) / static_cast<double>(s.k)) : 0;
    return tile_rate(rows, vectors, target) * filled(s.m, rows) * balanced(tasks, target) + (panel_outer ? 0 : 0.01) - (collide ? kCollisions : 0) - pieces -
           kTraffic * std::log2(traffic(s, rows, vectors * s.lanes, panel_outer, target)) + (e.integer("unroll_k") == kWrittenTerms ? 2 : 0);
  });
}

Expected<schedule::Schedule> batch_matmul_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Anchor a = *anchor_of(*dag);
  const MatmulShape s = matmul_shape(*dag, a, target);
  schedule::Builder b(dag);
  const int64_t columns = e.split("tile_x")[1];
  if (s.weights && s.n % columns == 0) {  // [..., N / columns, K, columns]
    const auto rank = static_cast<int>(dag->ops[static_cast<size_t>(a.weight)].output->shape.size());
    std::vector<schedule::LayoutStep::Piece> pieces;
    for (int d = 0; d < rank - 2; ++d) pieces.push_back({d, 0});
    pieces.insert(pieces.end(), {{rank - 1, 0}, {rank - 2, 0}, {rank - 1, columns}});
    b.layout(a.weight, pieces);
  }
  inline_epilogue(b, a);
  int out = 0;
  int acc = accumulator_stage(b, a, out);

  std::vector<ir::Var> outer = b.loops(out);
  const auto n = b.split(out, outer.back(), {e.split("tile_x")[1] / s.lanes, s.lanes});
  outer.pop_back();
  const auto m = b.split(out, outer.back(), {e.split("tile_y")[1]});
  outer.pop_back();
  const bool panel_outer = e.integer("panel_outer") != 0;
  outer.push_back(panel_outer ? n[0] : m[0]);
  const ir::Var second = panel_outer ? m[0] : n[0];
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {second, m[1], n[1], n[2]});
  b.reorder(out, order);
  b.compute_at(acc, out, second);
  b.unroll(out, m[1]);
  b.unroll(out, n[1]);
  b.vectorize(out, n[2]);
  const ir::Var pieces = outer.size() == 1 ? outer.front() : b.fuse(out, outer);
  b.parallel(out, pieces);
  if (e.integer("copy_panel") != 0) {
    int copy = a.turned;
    if (!s.turned) {
      copy = b.cache_read(a.weight, {acc}, "global");  // a stage before these
      ++acc;
      ++out;
    }
    b.compute_at(copy, out, pieces);
    const std::vector<ir::Var> loops = b.loops(copy);  // batch..., k, n
    const auto column = b.split(copy, loops.back(), {s.lanes});
    b.vectorize(copy, column[1]);
    if (s.turned) {  // blocks of as many rows as columns
      const auto row = b.split(copy, loops[loops.size() - 2], {s.lanes});
      std::vector<ir::Var> blocks(loops.begin(), loops.end() - 2);
      blocks.insert(blocks.end(), {column[0], row[0], row[1], column[1]});
      b.reorder(copy, blocks);
      b.unroll(copy, row[1]);
    }
  }

  // Of several panels the last one is told from the others; in a single one, rows of whole vectors stay registers.
  if (e.split("tile_x")[1] > s.n) rules::whole_blocks(b, acc, static_cast<int>(b.at(acc).op.axes.size()) - 1, s.lanes);
  std::vector<ir::Var> inner = b.loops(acc);  // batch..., m, n, k
  const size_t rank = inner.size() - 1;
  const auto j = b.split(acc, inner[rank - 1], {s.lanes});
  std::vector<ir::Var> walk(inner.begin(), inner.begin() + static_cast<std::ptrdiff_t>(rank - 2));
  const auto k = write_out_terms(b, acc, inner[rank], e.integer("unroll_k"));
  walk.insert(walk.end(), k.begin(), k.end());
  walk.insert(walk.end(), {inner[rank - 2], j[0], j[1]});
  b.reorder(acc, walk);
  b.unroll(acc, inner[rank - 2]);
  b.unroll(acc, j[0]);
  b.vectorize(acc, j[1]);
  return std::move(b).finish();
}

}  // namespace

Template batch_matmul() {
  return {"batch_matmul.cpu",
          batch_matmul_matches,
          batch_matmul_space,
          batch_matmul_apply,
          batch_matmul_fallback,
          "Matrix products, one a batch entry. A register tile of rows times whole vectors of columns reads both operands where they lie; panels of constant ones are packed "
          "ahead of time, and panels whose rows would evict each other may be copied first, and such that lie transposed are turned so.",
          "Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008"};
}

}  // namespace tw::space::cpu
