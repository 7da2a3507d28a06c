// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <cmath>

#include "engine/space/templates/cpu/blocked.h"
#include "engine/target/cpu_table.h"

namespace tw::space::cpu {

namespace {

struct Shape {
  int64_t m, n, terms, lanes;
};
std::optional<Anchor> anchor_of(const te::Dag& dag) { return find_anchor(dag, "dense_bytes", te::Role::constant, kInt32); }
Shape shape_of(const te::Dag& dag, const Anchor& a, const Target& target) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  return {op.output->shape[0], op.output->shape[1], op.reduce_axes.front().extent, dividing_lanes(op.output->shape[1], target)};
}

bool dense_bytes_matches(const te::Dag& dag, const Target& target) {
  const auto a = anchor_of(dag);
  return a && a->pad < 0 && shape_of(dag, *a, target).lanes > 1;
}

ConfigSpace dense_bytes_space(const te::Dag& dag, const Target& target) {
  const Shape s = shape_of(dag, *anchor_of(dag), target);
  ConfigSpace space;
  std::vector<std::vector<int64_t>> rows, columns;
  for (const int64_t r : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28})
    if (r <= s.m) rows.push_back({-1, r});
  for (const int64_t c : {1, 2, 3, 4, 5, 6, 7, 8})
    if (s.n / s.lanes % c == 0) columns.push_back({-1, c * s.lanes});
  space.define_split("tile_y", s.m, {.num_outputs = 2, .policy = "candidate", .candidates = rows, .help = "rows of the register tile"});
  space.define_split("tile_x", s.n, {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "columns of the register tile, whole vectors"});
  std::vector<Json> blocks;
  for (const int64_t r : {56, 112, 224})
    if (r < s.m) blocks.emplace_back(r);
  blocks.emplace_back(s.m);
  space.define_knob("rows_block", blocks, "rows that stay in cache while panels of weights pass");
  space.define_knob("unroll_k", up_to({1, 2, 4}, s.terms), "terms of the sum written out");
  const int64_t lanes = s.lanes;
  space.add_filter([lanes, target](const ConfigEntity& e) { return fits_registers(e.split("tile_y")[1], e.split("tile_x")[1] / lanes, target); },
                   "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity dense_bytes_fallback(const te::Dag& dag, const Target& target) {
  const Shape s = shape_of(dag, *anchor_of(dag), target);
  const ConfigSpace all = dense_bytes_space(dag, target);
  ConfigSpace open = all;  // what is left to choose
  open.define_knob("unroll_k", {up_to({1, 2, kWrittenTerms}, s.terms).back()});
  const ConfigEntity best = open.best_by([&](const ConfigEntity& e) {
    const int64_t rows = e.split("tile_y")[1], vectors = e.split("tile_x")[1] / s.lanes, block = e.integer("rows_block");
    const int64_t tasks = (s.m + block - 1) / block * (s.n / s.lanes / vectors);
    // Weights pass once more for each block of rows.
    return tile_rate(rows, vectors, target) * filled(s.m, rows) * balanced(tasks, target) - 0.02 * std::log2(static_cast<double>((s.m + block - 1) / block));
  });
  return best.index() < 0 ? best : all.from_json(best.json_text()).value();
}

Expected<schedule::Schedule> dense_bytes_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  Anchor a = *anchor_of(*dag);
  const Shape s = shape_of(*dag, a, target);
  const int64_t rows = e.split("tile_y")[1], columns = e.split("tile_x")[1];
  schedule::Builder b(dag);
  b.layout(a.weight, {{0, 0}, {1, 0}, {0, columns}, {1, target::kBytesTogether}});  // [N / columns][K / 4][columns][4]
  inline_epilogue(b, a);
  int out = 0;
  const int acc = accumulator_stage(b, a, out);

  const std::vector<ir::Var> axes = b.loops(out);
  const auto n = b.split(out, axes[1], {columns / s.lanes, s.lanes});
  const auto m = b.split(out, axes[0], {tiles_of_block(s.m, rows, e.integer("rows_block")), rows});
  b.reorder(out, {m[0], n[0], m[1], m[2], n[1], n[2]});
  b.compute_at(acc, out, m[1]);
  b.unroll(out, m[2]);
  b.unroll(out, n[1]);
  b.vectorize(out, n[2]);
  b.parallel(out, b.fuse(out, {m[0], n[0]}));

  const std::vector<ir::Var> inner = b.loops(acc);  // m, n, k
  const auto j = b.split(acc, inner[1], {s.lanes});
  std::vector<ir::Var> walk = write_out_terms(b, acc, inner[2], e.integer("unroll_k"));
  walk.insert(walk.end(), {inner[0], j[0], j[1]});
  b.reorder(acc, walk);
  b.unroll(acc, inner[0]);
  b.unroll(acc, j[0]);
  b.vectorize(acc, j[1]);
  return std::move(b).finish();
}

}  // namespace

Template dense_bytes() {
  return {"dense_bytes.cpu",
          dense_bytes_matches,
          dense_bytes_space,
          dense_bytes_apply,
          dense_bytes_fallback,
          "Matrix product of bytes with constant weights, packed ahead of time so that four products of each column lie together: one instruction adds them up in every lane. A register tile "
          "is summed over the whole reduction, with the elementwise work that follows applied on the way out.",
          kByteDots};
}

}  // namespace tw::space::cpu
