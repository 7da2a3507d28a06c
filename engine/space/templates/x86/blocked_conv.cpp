// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/x86/blocked_conv.h"

#include <algorithm>

namespace tw::space::x86 {

int64_t knob_columns(const te::Dag& dag, const cpu::Anchor& a) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const size_t rank = op.output->shape.size() - 2;
  const auto attr = [&](const char* name, size_t i, int64_t otherwise) {
    const auto found = op.attrs.find(name);
    return found != op.attrs.end() && i < found->second.size() ? found->second[i] : otherwise;
  };
  const int64_t in = dag.ops[static_cast<size_t>(a.data)].output->shape.back(), kernel = dag.ops[static_cast<size_t>(a.weight)].output->shape.back();
  return (in + attr("pads", rank - 1, 0) + attr("pads", 2 * rank - 1, 0) - kernel) / attr("strides", rank - 1, 1) + 1;
}

Expected<schedule::Schedule> blocked_conv_schedule(const te::DagPtr& dag, const cpu::Anchor& a, const Target& target, const BlockedTile& tile) {
  const te::Op& op = dag->ops[static_cast<size_t>(a.reduce)];
  const size_t rank = op.output->shape.size() - 2;
  const int64_t columns = std::min(tile.columns, op.output->shape.back()), statements = tile.rows * columns * tile.oc / lanes_for(tile.oc, target);
  const int64_t kw = op.reduce_axes.back().extent;
  schedule::Builder b(dag);
  if (tile.ic > 1) b.layout(a.data, cpu::nchwc(tile.ic, rank));
  std::vector<schedule::LayoutStep::Piece> weights;
  for (size_t d = 0; d < rank + 2; ++d) weights.push_back({static_cast<int>(d), 0});
  if (tile.ic > 1) weights.push_back({1, tile.ic});
  if (tile.oc > 1) weights.push_back({0, tile.oc});
  if (weights.size() > rank + 2) b.layout(a.weight, weights);
  cpu::layout_epilogue(b, *dag, a, cpu::nchwc(tile.oc, rank));
  cpu::schedule_padding(b, a.pad, tile.ic, target);
  cpu::inline_epilogue(b, a);
  int out = 0;
  const int acc = cpu::accumulator_stage(b, a, out);

  const auto axes = b.loops(out);  // n, oc, spatial...
  const auto c = b.split(out, axes[1], {tile.oc}), w = b.split(out, axes.back(), {columns});
  std::vector<ir::Var> outer{axes[0], c[0]}, inner;
  outer.insert(outer.end(), axes.begin() + 2, axes.end() - 1);
  if (tile.rows > 1) {
    const auto h = b.split(out, outer.back(), {tile.rows});
    outer.back() = h[0];
    inner.push_back(h[1]);
  }
  inner.push_back(w[1]);
  const Vectors v = vectorize_tile(b, out, c[1], tile.oc, target);
  std::vector<ir::Var> order = outer;
  order.push_back(w[0]);
  order.insert(order.end(), inner.begin(), inner.end());
  order.insert(order.end(), {v.whole, v.lanes});
  b.reorder(out, order);
  b.compute_at(acc, out, w[0]);
  if (written_out(statements))
    for (const ir::Var& x : inner) b.unroll(out, x);
  b.parallel(out, b.fuse(out, outer));

  const auto in = b.loops(acc);  // n, oc, spatial..., ic, window...
  const size_t ic = rank + 2;
  const Vectors o = vectorize_tile(b, acc, in[1], tile.oc, target);
  const auto i = b.split(acc, in[ic], {tile.ic});
  std::vector<ir::Var> walk{in[0], i[0]};
  walk.insert(walk.end(), in.begin() + static_cast<std::ptrdiff_t>(ic) + 1, in.end() - 1);
  walk.push_back(tile.unroll_kw ? i[1] : in.back());
  walk.push_back(tile.unroll_kw ? in.back() : i[1]);
  walk.insert(walk.end(), in.begin() + 2, in.begin() + static_cast<std::ptrdiff_t>(ic));
  walk.insert(walk.end(), {o.whole, o.lanes});
  b.reorder(acc, walk);
  if (tile.unroll_kw && written_out(statements * kw)) b.unroll(acc, in.back());
  if (written_out(statements))
    for (size_t d = ic - std::min<size_t>(rank, 2); d < ic; ++d) b.unroll(acc, in[d]);
  return std::move(b).finish();
}

}  // namespace tw::space::x86
