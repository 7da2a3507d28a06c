// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/depthwise_conv.h"

#include <algorithm>

#include "engine/space/rules/rules.h"

namespace tw::space::cpu {

namespace {

/// Taps of a window that the rule writes out, at most. Where registers are few compilers hoist more than there is room for, and windows of 25 take 0.7 to 1.3
/// times the time; with 32 of them windows of 25 and 49 take 0.7 to 0.9 of it (strided ones on 28x28 0.95 and 1.05 to 1.25). Of 81 strided ones are slower, and
/// of 121 the code is larger than what is compiled. Measured on a Zen 4.
int64_t most_written(const Target& target) { return target.vector_registers >= 32 ? 49 : 9; }

/// Whether pieces of parallel work may be rows of the image. The first and last one, which touch the padding, are told from the others by the row alone, so
/// that only one image has such pieces.
bool can_share_rows(const DepthwiseConv& c, const Target& target) { return target.cores > 1 && c.spatial() == 2 && c.out[0] == 1; }

}  // namespace

std::optional<DepthwiseConv> find_depthwise_conv(const te::Dag& dag, const Target& target, std::string_view tag) {
  const auto a = find_conv_anchor(dag, tag);
  if (!a) return std::nullopt;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  DepthwiseConv c{*a, op.output->shape, {}, channel_block(op.output->shape[1], target)};
  for (const te::Axis& r : op.reduce_axes) c.taps.push_back(r.extent);
  const bool one_each = dag.ops[static_cast<size_t>(a->data)].output->shape[1] == c.out[1];
  return one_each && c.block > 1 ? std::optional(c) : std::nullopt;
}

ConfigSpace depthwise_conv_space(const te::Dag& dag, const DepthwiseConv& c, const Target& target) {
  ConfigSpace space;
  std::vector<std::vector<int64_t>> columns;
  for (const int64_t t : {1, 2, 3, 4, 5, 6, 7, 8, 14})
    if (t <= c.columns()) columns.push_back({-1, t});
  space.define_split("tile_ow", c.columns(), {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "output columns of the register tile"});
  space.define_knob("tile_oh", up_to({1, 2, 3, 4}, c.rows()), "output rows of the register tile, which share the input rows");
  if (c.anchor.pad >= 0)
    space.define_knob("pad_inline", {0, 1}, "1: zero padding is tested where the input is read, 0: the input is copied into a padded array first");
  space.define_knob("unroll_window", {0, 1}, "1: the kernel window is written out, so that neighbouring taps share loads");
  if (const auto line = line_of(dag, c.anchor)) line->define(space);
  if (can_share_rows(c, target))
    space.define_knob("parallel_rows", {0, 1}, "what cores share, 0: blocks of channels, 1: rows of the image, each with all channels");
  space.add_filter([](const ConfigEntity& e) { return e.split("tile_ow")[1] * e.integer("tile_oh") <= 24; },
                   "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity depthwise_conv_fallback(const te::Dag& dag, const DepthwiseConv& c, const Target& target) {
  const std::vector<int64_t>& data = dag.ops[static_cast<size_t>(c.anchor.data)].output->shape;
  int64_t slices = c.out[0] * blocks_for(c.out[1], c.block);
  for (size_t d = 2; d + 2 < c.out.size(); ++d) slices *= c.out[d];
  const bool rows_stay = can_share_rows(c, target) && c.taps.front() * data.back() * data[1] * 4 <= target.l2_bytes / 2;
  return depthwise_conv_space(dag, c, target).best_by([&](const ConfigEntity& e) {
    const int64_t columns = e.split("tile_ow")[1], rows = e.integer("tile_oh"), pieces = c.spatial() == 1 ? e.integer("line_pieces") : 1;
    // Of equals the first stays, which is blocks: they find a row's neighbours in the nearest cache, rows in the second.
    const bool by_rows = can_share_rows(c, target) && e.integer("parallel_rows") != 0;
    const double busy = !by_rows ? balanced(slices * pieces, target) : rows_stay ? balanced((c.rows() + rows - 1) / rows, target) : 0;
    // Written out, a window keeps its weights and the columns that its taps share in registers, and asks for no address.
    const bool window = (e.integer("unroll_window") != 0) == (c.plane() <= most_written(target)), inlined = c.anchor.pad < 0 || e.integer("pad_inline") != 0;
    const double rate = std::min(1.0, static_cast<double>(columns * rows) / 8) - 0.01 * static_cast<double>(std::max<int64_t>(0, columns * rows - 8));
    return rate * busy * filled(c.columns(), columns) * filled(c.rows(), rows) + (window ? 2 : 0) + (inlined ? 2 : 0) - 0.0001 * static_cast<double>(pieces);
  });
}

Expected<schedule::Schedule> depthwise_conv_apply(const te::DagPtr& dag, const DepthwiseConv& c, const Target& target, const ConfigEntity& e) {
  const Anchor& a = c.anchor;
  const size_t spatial = c.spatial();
  schedule::Builder b(dag);
  b.layout(a.data, nchwc(c.block, spatial));
  std::vector<schedule::LayoutStep::Piece> packed;  // [C / block][1][taps...][block]
  for (size_t d = 0; d < spatial + 2; ++d) packed.push_back({static_cast<int>(d), 0});
  packed.push_back({0, c.block});
  b.layout(a.weight, packed);
  layout_epilogue(b, *dag, a, nchwc(c.block, spatial));
  if (a.pad >= 0 && e.integer("pad_inline") != 0)
    b.compute_inline(a.pad);
  else
    schedule_padding(b, a.pad, c.block, target);
  inline_epilogue(b, a);
  int out = 0;
  const int acc = accumulator_stage(b, a, out);

  const auto axes = b.loops(out);  // n, c, spatial...
  const auto channels = b.split(out, axes[1], {c.block});
  const auto w = b.split(out, axes.back(), {e.split("tile_ow")[1]});
  std::vector<ir::Var> outer{axes[0], channels[0]}, own, tile;
  outer.insert(outer.end(), axes.begin() + 2, axes.begin() + 2 + static_cast<std::ptrdiff_t>(spatial > 2 ? spatial - 2 : 0));
  if (spatial > 1) {
    const auto h = b.split(out, axes[axes.size() - 2], {e.integer("tile_oh")});
    own.push_back(h[0]);
    tile.push_back(h[1]);
  }
  ir::Var tiles = w[0];
  if (const auto line = line_of(*dag, a)) {
    const auto [pieces, of_piece] = line->cut(b, out, w[0], e.split("tile_ow")[1], e);
    outer.insert(outer.end(), pieces.begin(), pieces.end());
    tiles = of_piece;
  }
  if (can_share_rows(c, target) && e.integer("parallel_rows") != 0) std::swap(outer[1], own[0]);
  tile.push_back(w[1]);
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), own.begin(), own.end());
  order.push_back(tiles);
  order.insert(order.end(), tile.begin(), tile.end());
  order.push_back(channels[1]);
  b.reorder(out, order);
  b.compute_at(acc, out, tiles);
  for (const ir::Var& v : tile) b.unroll(out, v);
  b.vectorize(out, channels[1]);
  // Rows stay a loop of their own: the first and last one, which touch the padding, are cut off it.
  b.parallel(out, b.fuse(out, outer));

  const auto in = b.loops(acc);  // n, c, spatial..., taps...
  rules::whole_blocks(b, acc, 1, c.block);
  const auto end = in.begin() + 2 + static_cast<std::ptrdiff_t>(spatial);
  std::vector<ir::Var> inner{in[0]};
  inner.insert(inner.end(), end, in.end());
  inner.insert(inner.end(), in.begin() + 2, end);
  inner.push_back(in[1]);
  b.reorder(acc, inner);
  for (size_t from_last = 1; from_last <= std::min<size_t>(2, spatial); ++from_last) {
    if (e.integer("unroll_window") != 0) b.unroll(acc, *(in.end() - static_cast<std::ptrdiff_t>(from_last)));
    b.unroll(acc, *(end - static_cast<std::ptrdiff_t>(from_last)));
  }
  b.vectorize(acc, in[1]);
  return std::move(b).finish();
}

}  // namespace tw::space::cpu
