// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <numeric>

#include "engine/space/fallback.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/x86/tiles.h"

namespace tw::space::x86 {

namespace {

struct DenseShape {
  int64_t m, n, k;
};

DenseShape dense_shape(const te::Dag& dag) {
  const te::Op& op = dag.ops[static_cast<size_t>(cpu::find_anchor(dag, "dense")->reduce)];
  return {op.output->shape[0], op.output->shape[1], op.reduce_axes.front().extent};
}

/// Factor of a middle loop that leaves at most four, or an odd number, of the loop outside it.
int64_t middle(int64_t quotient) {
  int64_t factor = 1;
  for (; quotient > 4 && quotient % 2 == 0; quotient /= 2) factor *= 2;
  return factor;
}

bool dense_pack_matches(const te::Dag& dag, const Target&) {
  const auto a = cpu::find_anchor(dag, "dense");
  return a && a->pad < 0;
}

ConfigSpace dense_pack_space(const te::Dag& dag, const Target&) {
  const DenseShape s = dense_shape(dag);
  ConfigSpace space;
  space.define_split("tile_y", s.m, {.num_outputs = 3, .help = "rows: parallel, tiles, register tile"});
  space.define_split("tile_x", s.n, {.num_outputs = 3, .help = "columns: parallel, tiles, packed panel and register tile"});
  space.define_split("tile_k", s.k, {.num_outputs = 2, .help = "steps of the reduction written out"});
  SplitOptions inner{.num_outputs = 2, .help = "rows that take a step of the reduction together"};
  inner.filter = [](const std::vector<int64_t>& size) { return size.back() <= 16; };
  space.define_split("tile_inner", s.m, inner);
  return space;
}

ConfigEntity dense_pack_fallback(const te::Dag& dag, const Target& target) {
  const DenseShape s = dense_shape(dag);
  const int64_t columns = rules::divisor_up_to(s.n, 2 * target.lanes(kFloat32));
  int64_t rows = 8;
  while (s.m % rows != 0) rows /= 2;
  return point_with(
      dense_pack_space(dag, target),
      {{"tile_y", {-1, middle(s.m / rows), rows}}, {"tile_x", {-1, middle(s.n / columns), columns}}, {"tile_k", {-1, 1}}, {"tile_inner", {-1, rows}}});
}

Expected<schedule::Schedule> dense_pack_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const cpu::Anchor a = *cpu::find_anchor(*dag, "dense");
  const std::vector<int64_t>&y = e.split("tile_y"), &x = e.split("tile_x");
  const int64_t rows = y[2], columns = x[2], steps = e.split("tile_k")[1];
  const int64_t together = std::gcd(rows, e.split("tile_inner")[1]);
  const int64_t statements = rows * columns / lanes_for(columns, target);
  schedule::Builder b(dag);
  b.layout(a.weight, {{0, 0}, {1, 0}, {0, columns}});  // [N / columns][K][columns]
  cpu::inline_epilogue(b, a);
  int out = 0;
  const int acc = cpu::accumulator_stage(b, a, out);

  const auto axes = b.loops(out);
  const auto m = b.split(out, axes[0], {y[1], rows}), n = b.split(out, axes[1], {x[1], columns});
  const Vectors v = vectorize_tile(b, out, n[2], columns, target);
  b.reorder(out, {n[0], m[0], m[1], n[1], m[2], v.whole, v.lanes});
  b.compute_at(acc, out, n[1]);
  if (written_out(statements)) b.unroll(out, m[2]);
  b.parallel(out, b.fuse(out, {n[0], m[0]}));

  const auto in = b.loops(acc);  // m, n, k
  const Vectors j = vectorize_tile(b, acc, in[1], columns, target);
  const auto k = b.split(acc, in[2], {steps});
  if (together > 1) {
    const auto i = b.split(acc, in[0], {together});
    b.reorder(acc, {k[0], i[0], k[1], i[1], j.whole, j.lanes});
    if (written_out(statements * steps)) b.unroll(acc, i[0]);
    if (written_out(statements)) b.unroll(acc, i[1]);
  } else {
    b.reorder(acc, {k[0], k[1], in[0], j.whole, j.lanes});
    if (written_out(statements)) b.unroll(acc, in[0]);
  }
  if (written_out(statements * steps)) b.unroll(acc, k[1]);
  return std::move(b).finish();
}

}  // namespace

Template dense_pack() {
  return {"dense_pack.x86",
          dense_pack_matches,
          dense_pack_space,
          dense_pack_apply,
          dense_pack_fallback,
          "AutoTVM's matrix product with packed weights. Every tile divides its axis: two levels of tiles of rows and columns around a register tile, with "
          "some steps of the reduction written out.",
          kAutotvmX86};
}

}  // namespace tw::space::x86
