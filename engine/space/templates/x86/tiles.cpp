// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/x86/tiles.h"

#include "engine/space/rules/rules.h"

namespace tw::space::x86 {

int64_t lanes_for(int64_t n, const Target& target) { return rules::divisor_up_to(n, target.lanes(kFloat32)); }

Vectors vectorize_tile(schedule::Builder& b, int stage, const ir::Var& loop, int64_t tile, const Target& target) {
  const auto parts = b.split(stage, loop, {lanes_for(tile, target)});
  if (written_out(tile / lanes_for(tile, target))) b.unroll(stage, parts[0]);
  b.vectorize(stage, parts[1]);
  return {parts[0], parts[1]};
}

ConfigSpace dot_space(int64_t m, int64_t n, int64_t k) {
  ConfigSpace space;
  space.define_split("tile_y", m, {.num_outputs = 2, .help = "rows of a tile"});
  space.define_split("tile_x", n, {.num_outputs = 2, .help = "columns of a tile"});
  space.define_split("tile_k", k, {.num_outputs = 2, .help = "terms summed up side by side in vectors"});
  return space;
}

Expected<schedule::Schedule> dot_schedule(const te::DagPtr& dag, const cpu::Anchor& a, const Target& target, const ConfigEntity& e) {
  const int64_t y = e.split("tile_y")[1], x = e.split("tile_x")[1], width = e.split("tile_k")[1];
  schedule::Builder b(dag);
  cpu::inline_epilogue(b, a);
  cpu::Anchor at = a;
  int partial = -1;
  if (width > 1) {
    const auto k = b.split(a.reduce, b.loops(a.reduce).back(), {width});
    const auto rank = static_cast<int>(b.at(a.reduce).op.axes.size());
    partial = b.rfactor(a.reduce, k[1], rank);
    ++at.reduce;
    ++at.output;
  }
  int out = 0;
  const int acc = cpu::accumulator_stage(b, at, out);
  if (!b.ok()) return std::move(b).finish();

  std::vector<ir::Var> outer = b.loops(out);          // batch..., m, n
  const auto n = b.split(out, outer.back(), {1, x});  // the middle one is where sums belong: the outer one becomes part of the parallel loop
  outer.pop_back();
  const auto m = b.split(out, outer.back(), {y});
  outer.pop_back();
  outer.insert(outer.end(), {m[0], n[0]});
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {n[1], m[1], n[2]});
  b.reorder(out, order);
  b.compute_at(acc, out, n[1]);
  if (partial >= 0) b.compute_at(partial, out, n[1]);
  const bool rows = written_out(y * x * width), columns = written_out(x * width);
  if (rows) b.unroll(out, m[1]);
  if (columns) b.unroll(out, n[2]);
  b.parallel(out, b.fuse(out, outer));

  const auto sum = b.loops(acc);  // batch..., m, n, then the vector or the whole reduction
  if (partial < 0) {
    std::vector<ir::Var> walk(sum.begin(), sum.end() - 3);
    walk.insert(walk.end(), {sum.back(), sum[sum.size() - 3], sum[sum.size() - 2]});
    b.reorder(acc, walk);
  }
  if (rows) b.unroll(acc, sum[sum.size() - 3]);
  if (columns) b.unroll(acc, sum[sum.size() - 2]);
  if (partial < 0) return std::move(b).finish();
  if (written_out(width)) b.unroll(acc, sum.back());

  const auto in = b.loops(partial);  // batch..., m, n, vector, k
  const size_t last = in.size() - 1;
  const Vectors v = vectorize_tile(b, partial, in[last - 1], width, target);
  std::vector<ir::Var> walk(in.begin(), in.end() - 4);
  walk.insert(walk.end(), {in[last], in[last - 3], in[last - 2], v.whole, v.lanes});
  b.reorder(partial, walk);
  if (rows) b.unroll(partial, in[last - 3]);
  if (columns) b.unroll(partial, in[last - 2]);
  return std::move(b).finish();
}

}  // namespace tw::space::x86
