// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/transposed_conv.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "engine/space/rules/rules.h"

namespace tw::space::cpu {

std::optional<TransposedConv> find_transposed_conv(const te::Dag& dag, const Target& target, std::string_view tag) {
  const auto a = find_anchor(dag, tag);
  if (!a) return std::nullopt;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  const auto groups = op.attrs.find("groups"), strides = op.attrs.find("strides");
  if (groups == op.attrs.end() || strides == op.attrs.end()) return std::nullopt;
  const std::vector<int64_t>&out = op.output->shape, &weight = dag.ops[static_cast<size_t>(a->weight)].output->shape;
  const int64_t g = groups->second.front(), channels = weight[0];
  const bool depthwise = g > 1 && g == channels && out[1] == channels;
  if (g > 1 && !depthwise) return std::nullopt;
  const TransposedConv c{*a,
                         out[0],
                         depthwise ? 1 : channels,
                         out[1],
                         {out.begin() + 2, out.end()},
                         strides->second.back(),
                         channel_block(channels, target),
                         channel_block(out[1], target),
                         depthwise};
  return c.out_block > 1 ? std::optional(c) : std::nullopt;
}

ConfigSpace transposed_conv_space(const te::Dag& dag, const TransposedConv& c, const Target& target) {
  ConfigSpace space;
  const auto columns = whole_strides(c.columns(), c.stride_w, 28, [&](int64_t t) { return fits_registers(t, 1, target); });
  space.define_split("tile_ow", c.columns(), {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "output columns of the register tile"});
  space.define_knob("oc_blocks", panel_widths({1, 2, 3, 4, 5, 6}, c.sharing()), "blocks of output channels of the register tile");
  space.define_knob("unroll_ic", up_to({1, 2}, c.terms()), "input channels written out");
  space.define_knob("rows_outer", {0, 1}, "1: rows of the image outside, channels inside; 0: the other way round");
  if (const auto line = line_of(dag, c.anchor)) line->define(space);
  space.add_filter([target](const ConfigEntity& e) { return fits_registers(e.split("tile_ow")[1], e.integer("oc_blocks"), target); },
                   "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity transposed_conv_fallback(const te::Dag& dag, const TransposedConv& c, const Target& target) {
  const bool rows_outer = dag.ops[static_cast<size_t>(c.anchor.weight)].output->bytes() <= target.l2_bytes / 2;
  const int64_t lines = std::accumulate(c.spatial.begin(), c.spatial.end() - 1, c.batch, std::multiplies<>());
  const auto line = line_of(dag, c.anchor);
  return transposed_conv_space(dag, c, target).best_by([&](const ConfigEntity& e) {
    const int64_t columns = e.split("tile_ow")[1], blocks = e.integer("oc_blocks"), vectors = blocks_for(c.oc, c.out_block);
    const int64_t panels = blocks_for(vectors, blocks), pieces = line ? e.integer("line_pieces") : 1;
    const bool rolled = e.integer("unroll_ic") == 1, outside = e.integer("rows_outer") != 0;
    const double order = line ? line->kept(pieces, outside, c.depthwise ? 1 : panels, target) : outside == rows_outer ? 1 : 0;
    // Columns at the same place of a stride share weights, those of a stride share data.
    const int64_t strides = std::max<int64_t>(1, columns / c.stride_w);
    return tile_rate(strides, columns / strides * blocks, target) * filled(c.columns(), columns) * filled(vectors, blocks) *
               balanced(lines * panels * pieces, target) +
           (rolled ? 2 : 0) + order;
  });
}

Expected<schedule::Schedule> transposed_conv_apply(const te::DagPtr& dag, const TransposedConv& c, const Target& target, const ConfigEntity& e) {
  const Anchor& a = c.anchor;
  const size_t rank = c.spatial.size();
  const int64_t blocks = e.integer("oc_blocks"), unroll = e.integer("unroll_ic");
  schedule::Builder b(dag);
  // The channels of a single pixel lie together as they are.
  const std::vector<int64_t>& data = dag->ops[static_cast<size_t>(a.data)].output->shape;
  if (c.data_block > 1 && std::accumulate(data.begin() + 2, data.end(), int64_t{1}, std::multiplies<>()) > 1) b.layout(a.data, nchwc(c.data_block, rank));
  std::vector<schedule::LayoutStep::Piece> packed;  // [O / columns][taps...][I][columns], of depthwise ones [1][taps...][C / block][block]
  packed.push_back({1, 0});
  for (size_t d = 2; d < rank + 2; ++d) packed.push_back({static_cast<int>(d), 0});
  packed.push_back({0, 0});
  packed.push_back({c.depthwise ? 0 : 1, blocks * c.out_block});
  b.layout(a.weight, packed);
  layout_epilogue(b, *dag, a, nchwc(c.out_block, rank));
  schedule_padding(b, a.pad, c.data_block, target);
  inline_epilogue(b, a);
  int out = 0;
  const int acc = accumulator_stage(b, a, out);

  const auto axes = b.loops(out);  // n, oc, spatial...
  const auto channels = b.split(out, axes[1], {blocks, c.out_block});
  const auto w = b.split(out, axes.back(), {e.split("tile_ow")[1]});
  std::vector<ir::Var> lines(axes.begin() + 2, axes.end() - 1), outer{axes[0]};
  ir::Var tiles = w[0];
  if (const auto line = line_of(*dag, a)) std::tie(lines, tiles) = line->cut(b, out, w[0], e.split("tile_ow")[1], e);
  outer.insert(outer.end(), lines.begin(), lines.end());
  outer.insert(e.integer("rows_outer") != 0 ? outer.end() : outer.begin() + 1, channels[0]);
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {tiles, w[1], channels[1], channels[2]});
  b.reorder(out, order);
  b.compute_at(acc, out, tiles);
  b.unroll(out, w[1]);
  b.unroll(out, channels[1]);
  b.vectorize(out, channels[2]);
  b.parallel(out, b.fuse(out, outer));

  const auto in = b.loops(acc);  // n, oc, spatial..., ic, taps...
  rules::whole_blocks(b, acc, 1, blocks * c.out_block);
  const auto oc = b.split(acc, in[1], {c.out_block});
  const auto ic = b.split(acc, in[2 + rank], {c.terms() / unroll, unroll});
  std::vector<ir::Var> inner{in[0], ic[0]};
  inner.insert(inner.end(), in.begin() + 3 + static_cast<std::ptrdiff_t>(rank), in.end());
  inner.insert(inner.end(), {ic[1], ic[2]});
  inner.insert(inner.end(), in.begin() + 2, in.begin() + 2 + static_cast<std::ptrdiff_t>(rank));
  inner.insert(inner.end(), {oc[0], oc[1]});
  b.reorder(acc, inner);
  b.unroll(acc, ic[2]);
  b.unroll(acc, in[1 + rank]);
  b.unroll(acc, oc[0]);
  b.vectorize(acc, oc[1]);
  return std::move(b).finish();
}

}  // namespace tw::space::cpu
