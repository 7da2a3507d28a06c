// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/direct_conv.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/space/rules/rules.h"
#include "engine/target/cpu_table.h"
#include "engine/tir/passes/skip_padding.h"

namespace tw::space::cpu {

namespace {

/// Groups that a vector's data are put together from, at most: each is a read of its own. Also the parts that a block of results is computed in, at most.
constexpr int64_t kPartsOfBlock = 4;
/// Of more groups, and of as many, vectors of data are read whole and spread in registers: a permutation where the sum over a group's channels is written out.
constexpr int64_t kSpreadGroups = 8;

/// Channels of a vector of results where each group has `oc` of them: none if vectors and groups do not fit into each other. Products of bytes are not put
/// together.
std::optional<int64_t> lanes_of(const DirectConv& c, int64_t oc, const Target& target) {
  if (oc % c.out_block == 0) return c.out_block;
  if (c.out_block != target.lanes(kFloat32)) return std::nullopt;
  if (c.out_block % oc != 0 || c.together > 1) {
    const int64_t lanes = std::gcd(oc, c.out_block);
    return lanes * kPartsOfBlock >= c.out_block ? std::optional(lanes) : std::nullopt;
  }
  const int64_t data = c.ic * (c.out_block / oc);
  const bool whole = data % c.data_block == 0 || c.data_block % data == 0;
  return whole && c.out_block / oc <= (c.ic * c.out_block / oc == c.out_block ? kSpreadGroups : kPartsOfBlock) ? std::optional(c.out_block) : std::nullopt;
}

}  // namespace

std::optional<DirectConv> find_direct_conv(const te::Dag& dag, const Target& target, std::string_view tag, int64_t together) {
  const auto a = together > 1 ? find_anchor(dag, tag, te::Role::constant, kInt32) : find_conv_anchor(dag, tag);
  if (!a) return std::nullopt;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  const auto groups = op.attrs.find("groups");
  const std::vector<int64_t>& out = op.output->shape;
  const int64_t g = groups == op.attrs.end() ? 1 : groups->second.front(), ic = dag.ops[static_cast<size_t>(a->weight)].output->shape[1];
  DirectConv c{*a, out[0], g, ic, out[1], {out.begin() + 2, out.end()}, channel_block(ic * g, target), channel_block(out[1], target), 1, 1, together, {}};
  c.window = te::windows_of(dag, op);
  c.ic_block = g == 1 ? c.data_block : std::gcd(c.data_block, ic);
  const auto lanes = g == 1 ? std::optional(c.out_block) : lanes_of(c, out[1] / g, target);
  c.lanes = lanes.value_or(1);
  return c.lanes > 1 && c.ic_block % together == 0 ? std::optional(c) : std::nullopt;
}

namespace {

/// Whether neighbouring pixels may share a vector: of blocks that do not fill one. Bytes of different pixels would have to be put together first.
bool shares_vectors(const DirectConv& c, const Target& target) { return c.together == 1 && 2 * c.out_block <= target.lanes(kFloat32); }

/// Neighbouring pixels whose blocks of channels make one vector.
int64_t pixels_of(const DirectConv& c, const Target& target, const ConfigEntity& e) { return shares_vectors(c, target) ? e.integer("vector_ow") : 1; }

/// Parts of a vector of output channels that are computed by themselves.
int64_t parts_of(const DirectConv& c, const ConfigEntity& e) { return c.groups_in_vector() > 1 ? e.integer("vector_parts") : 1; }

/// Whether a vector's data may be read as one and spread over the lanes of so many groups, of which each has as many outputs as inputs.
bool can_spread(const DirectConv& c) {
  return c.groups_in_vector() >= kPartsOfBlock && c.ic * c.groups_in_vector() == c.out_block && c.data_block == c.out_block;
}
bool spreads(const DirectConv& c, const ConfigEntity& e) { return can_spread(c) && parts_of(c, e) == 1 && e.integer("unroll_ic") == c.terms(); }

/// Whether taps can be written out: each is a loop over channels. Without one compilers join what they read of the same pixels, and run out of registers.
bool can_write_taps(const DirectConv& c, const ConfigEntity& e) { return c.terms() > 1 && !spreads(c, e); }

/// Whether the taps of a dimension, so many from the last, are written out: where the tile spans an image's whole line, so that each pixel is left alone by the
/// taps that meet its padding.
bool spans(const DirectConv& c, const Target& target, const ConfigEntity& e, size_t from_last) {
  const te::WindowLine* line = c.line(from_last);
  if (!line || line->taps > kMostWrittenTaps || pixels_of(c, target, e) > 1 || !can_write_taps(c, e)) return false;
  if (from_last == 0) return e.split("tile_ow")[1] == c.columns();
  return from_last == 1 && e.integer("tile_oh") == c.rows() && spans(c, target, e, 0) &&
         line->taps * c.line(0)->taps <= kMostWrittenTaps * kMostWrittenTaps / 2;
}

/// Whether zero padding is tested where the image is read, instead of being written around a copy of it.
bool pads_inline(const DirectConv& c, const ConfigEntity& e) { return c.zero_padded() && e.integer("pad_inline") != 0; }

/// Nodes of expressions that tests for padding may lead to, of the 200,000 that are compiled.
constexpr int64_t kMostNodes = 150000;

/// About how many they are: a tile's multiply-adds are written out for the first, the last and the other tiles of a line, for rows inside and at the borders,
/// where several rows of a tile meet different taps of a high window, and for the last block of channels where it is not whole. Counted for windows of 3 to 9
/// taps.
int64_t written_nodes(const DirectConv& c, const ConfigEntity& e) {
  const int64_t columns = e.split("tile_ow")[1], tiles = std::min<int64_t>(3, blocks_for(c.columns(), columns)), rows = e.integer("tile_oh");
  const int64_t taps = c.line(0) ? c.line(0)->taps : 1, high = c.line(1) ? c.line(1)->taps : 1, borders = (c.line(1) ? 2 : 1) * (c.line(2) ? 6 : 1);
  const int64_t blocks = c.groups == 1 && c.ic % c.ic_block != 0 ? 2 : 1, each = high <= 3 ? 64 : rows > 1 ? 120 : 80;
  return each * tiles * borders * blocks * taps * e.integer("unroll_ic") * columns * rows * e.integer("oc_blocks");
}

/// Whether such tests cost nothing in most tiles: what a line's tiles read beside the image is known ahead of time where only the first and the last of them
/// meet its padding and the taps of a line are written out, and a row is left out with one test for all that it would add.
bool can_pad_inline(const DirectConv& c, const Target& target, const ConfigEntity& e) {
  if (pixels_of(c, target, e) > 1 || !can_write_taps(c, e) || (c.spatial.size() == 1 && e.integer("line_pieces") > 1)) return false;
  return knows_padding(c.line(0), c.columns(), e.split("tile_ow")[1]) && written_nodes(c, e) <= kMostNodes;
}

/// Bytes that come a cycle from beyond the level-2 cache, or go there: what copies of images reach on a Xeon.
constexpr double kBytesPerCycle = 10;

/// Bytes of weights that a tile asks for in a cycle at the full rate, each vector of which serves so many pixels.
double weight_bytes_a_cycle(const Target& target, int64_t pixels) {
  return static_cast<double>(target.vector_bits) / 8 * target::pipes_of(target.cpu).fmas / static_cast<double>(pixels);
}

/// The rate at which a panel of weights that the level-2 cache does not hold arrives, for a tile of so many pixels.
double arrives(const Target& target, int64_t panel, int64_t pixels) {
  return 2 * panel > target.l2_bytes ? kBytesPerCycle / weight_bytes_a_cycle(target, pixels) : 1;
}

/// Bytes of the weights that a tile's vectors of outputs have together.
int64_t panel_bytes(const te::Dag& dag, const DirectConv& c, const ConfigEntity& e) {
  return dag.ops[static_cast<size_t>(c.anchor.weight)].output->bytes() / c.vectors() * e.integer("oc_blocks");
}

/// Multiply-adds of whole vectors.
double updates_of(const te::Dag& dag, const DirectConv& c) {
  auto updates = static_cast<double>(c.vectors() * c.batch);
  for (const int64_t s : c.spatial) updates *= static_cast<double>(s);
  for (const te::Axis& r : dag.ops[static_cast<size_t>(c.anchor.reduce)].reduce_axes) updates *= static_cast<double>(r.extent);
  return updates;
}

/// Time to write an image and its padding down and to read them again, over the time of its multiply-adds at the full rate.
double copy_share(const te::Dag& dag, const DirectConv& c, const Target& target) {
  const auto bytes = static_cast<double>(dag.ops[static_cast<size_t>(c.anchor.data)].output->bytes());
  return 2 * bytes / kBytesPerCycle / (updates_of(dag, c) / target::pipes_of(target.cpu).fmas);
}

/// What a register tile reaches, by rule, where each vector's operand is put together from what its pixels and groups read.
double rate_of(const DirectConv& c, const Target& target, const ConfigEntity& e) {
  const int64_t pixels = pixels_of(c, target, e), parts = parts_of(c, e), rows = e.split("tile_ow")[1] / pixels * e.integer("tile_oh");
  const int64_t reads = spreads(c, e) ? 2 : pixels * c.groups_in_vector() / parts;  // a permutation takes a multiply-add's place, as a second read does
  const double each = tile_rate(rows * parts, e.integer("oc_blocks"), target, reads);
  const int64_t pieces = parts * c.out_block / c.lanes;  // a vector of a whole block stands for so many
  const double often = pieces > 1 && target::pipes_of(target.cpu).halves ? 2 : 1;
  return each * static_cast<double>(pixels) * often / static_cast<double>(pieces);
}

/// What a panel of weights costs that the nearest cache does not hold while parts of vectors, which are multiplied twice as often, walk over the image: of 120
/// channels 0.2 of the rate, measured on a Zen 4.
double waits(const DirectConv& c, const Target& target, int64_t panel_bytes) { return c.lanes < c.out_block && panel_bytes > target.l1d_bytes ? 0.2 : 0; }

/// How much of its register's lanes a vector uses on average.
double lanes_used(const DirectConv& c, const Target& target) {
  return static_cast<double>(c.oc) / static_cast<double>(blocks_for(c.oc, c.out_block) * c.out_block) * register_share(c.lanes, target);
}

/// What arithmetic and weights that arrive at the same time cost each other.
constexpr double kDisturbed = 0.1;

/// Bytes that come a cycle from the level-2 cache while others arrive there: tiles of five pixels reached 22 on a Zen 5.
constexpr double kPassingBytesPerCycle = 22;

/// A rate with the time in which weights come from beyond the level-2 cache: beside all arithmetic where the next panel arrives while one is used
/// (codegen/panels.h), else beside that of the first of so many tiles, of so many pixels each, that share a panel, and the others wait.
double with_arrival(const te::Dag& dag, const DirectConv& c, const Target& target, double rate, int64_t panel, int64_t tiles, int64_t pixels) {
  const auto weights = static_cast<double>(dag.ops[static_cast<size_t>(c.anchor.weight)].output->bytes());
  if (weights <= static_cast<double>(target.l2_bytes) || 2 * panel > target.l2_bytes) return rate;
  const double arrival = weights / kBytesPerCycle / (updates_of(dag, c) / target::pipes_of(target.cpu).fmas);  // over the time of arithmetic at the full rate
  if (tiles > 1) rate *= std::min(1.0, kPassingBytesPerCycle / weight_bytes_a_cycle(target, pixels));
  const double first = 3 * panel <= target.l2_bytes ? 1 : 1 / static_cast<double>(tiles);
  return 1 / ((1 - first) / rate + std::max(first / rate, arrival) + kDisturbed * std::min(first / rate, arrival));
}

/// What a register tile reaches with its panels of weights, of which the caches hold some.
double rate_with_panels(const te::Dag& dag, const DirectConv& c, const Target& target, const ConfigEntity& e) {
  const int64_t panel = panel_bytes(dag, c, e), pixels = e.split("tile_ow")[1] * e.integer("tile_oh");
  return std::min(rate_of(c, target, e) - waits(c, target, panel), arrives(target, panel, pixels));
}

}  // namespace

ConfigSpace direct_conv_space(const te::Dag& dag, const DirectConv& c, const Target& target) {
  ConfigSpace space;
  std::vector<std::vector<int64_t>> columns;
  std::vector<int64_t> widths{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 16, 20, 24, 28};
  if (c.line(0) && c.columns() < widths.back() && std::find(widths.begin(), widths.end(), c.columns()) == widths.end()) widths.push_back(c.columns());
  for (const int64_t t : widths)
    if (t <= c.columns()) columns.push_back({-1, t});
  space.define_split("tile_ow", c.columns(), {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "output columns of the register tile"});
  std::vector<int64_t> heights{1, 2, 3, 4, 7};
  if (c.rows() == 5 || c.rows() == 6) heights.insert(heights.end() - 1, c.rows());  // all of a small image
  space.define_knob("tile_oh", up_to(heights, c.rows()), "output rows of the register tile, which share the weight loads");
  const std::vector<int64_t> panels{1, 2, 3, 4, 5, 6};
  space.define_knob("oc_blocks", c.groups == 1 ? panel_widths(panels, c.sharing()) : dividing(panels, c.sharing()),
                    "vectors of output channels of the register tile");
  space.define_knob("unroll_ic", up_to(can_spread(c) ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{1, 2}, c.terms()),
                    "terms of the sum over a block of input channels that are written out");
  space.define_knob("rows_outer", {0, 1}, "1: rows of the image outside, channels inside; 0: the other way round");
  if (c.zero_padded()) {
    space.define_knob("pad_inline", {0, 1}, "1: zero padding is tested where the input is read, 0: the input is copied into a padded array first");
    space.add_filter([c, target](const ConfigEntity& e) { return !pads_inline(c, e) || can_pad_inline(c, target, e); },
                     "tests for padding would not be known ahead of time");
  }
  if (const auto line = line_of(dag, c.anchor)) line->define(space);
  if (shares_vectors(c, target)) {
    space.define_knob("vector_ow", dividing({1, target.lanes(kFloat32) / c.out_block}, c.columns()),
                      "neighbouring columns whose blocks of channels make one vector");
    space.add_filter(
        [c](const ConfigEntity& e) {
          return e.integer("vector_ow") == 1 || (e.split("tile_ow")[1] % e.integer("vector_ow") == 0 && c.columns() % e.split("tile_ow")[1] == 0);
        },
        "the register tile is not made of whole vectors");
  }
  if (c.groups_in_vector() > 1)
    space.define_knob("vector_parts", dividing({1, 2, 4}, c.groups_in_vector()),
                      "pieces of a vector that are computed by themselves: one of each group needs no operand that is put together");
  if (c.groups_in_vector() > kPartsOfBlock)
    space.add_filter([c](const ConfigEntity& e) { return spreads(c, e) || c.groups_in_vector() / parts_of(c, e) <= kPartsOfBlock; },
                     "operands would be put together from too many groups");
  space.add_filter(
      [c, target](const ConfigEntity& e) {
        const int64_t rows = e.split("tile_ow")[1] / pixels_of(c, target, e) * e.integer("tile_oh"), blocks = e.integer("oc_blocks");
        // What is spread stays in a register for all terms, whose weights are there at once.
        if (spreads(c, e) && rows * (blocks + 1) + c.terms() * blocks + 1 > target.vector_registers) return false;
        return fits_registers(rows, blocks * parts_of(c, e), target);
      },
      "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity direct_conv_fallback(const te::Dag& dag, const DirectConv& c, const Target& target) {
  const int64_t weights = dag.ops[static_cast<size_t>(c.anchor.weight)].output->bytes();
  const int64_t outer = std::accumulate(c.spatial.begin(), c.spatial.end(), c.batch, std::multiplies<>()) / c.columns() / c.rows();
  // Rows inside reuse a panel of weights over the whole image; rows outside are as good only while all weights stay in the level-2 cache, and of use where
  // panels share data, which groups do not.
  const bool rows_outer = c.groups == 1 && weights <= target.l2_bytes / 2;
  const auto rate = [&](const ConfigEntity& e) { return rate_with_panels(dag, c, target, e); };
  const auto line = line_of(dag, c.anchor);
  const double copied = c.anchor.pad >= 0 ? copy_share(dag, c, target) : 0;
  ConfigEntity best = direct_conv_space(dag, c, target).best_by([&](const ConfigEntity& e) {
    const int64_t columns = e.split("tile_ow")[1], rows = e.integer("tile_oh"), blocks = e.integer("oc_blocks");
    const int64_t panels = blocks_for(c.vectors(), blocks), pieces = line ? e.integer("line_pieces") : 1;
    const int64_t tasks = outer * blocks_for(c.rows(), rows) * panels * pieces;
    const int64_t tiles = tasks / panels / pieces * blocks_for(c.columns(), columns);
    // Of the dimension so many from the last, in whose loop so many taps are inside.
    const auto met = [&](size_t from_last, int64_t tile, int64_t taps) {
      const te::WindowLine* line = c.line(from_last);
      if (!line) return 1.0;
      if (spans(c, target, e, from_last) || pads_inline(c, e)) return line->met(1);
      const double share = line->met(tile);
      const auto updates = static_cast<double>(columns / pixels_of(c, target, e) * rows * blocks * c.terms() * taps);
      return tir::pays_to_leave_out((1 - share) * static_cast<double>(tiles), updates) ? share : 1.0;
    };
    // Of a tile of one vector of outputs LLVM keeps the sums of two channels apart, for which sixteen registers are too few: 1.8 times as slow with AVX2.
    const int64_t most = can_spread(c) && parts_of(c, e) == 1 ? c.terms() : blocks == 1 && c.together == 1 && target.vector_registers <= 16 ? 1 : kWrittenChannels;
    // A number that does not divide the channels would be tested for in every turn over the last block.
    const bool written = e.integer("unroll_ic") == (c.ic % most == 0 ? std::min(most, c.terms()) : 1), outside = e.integer("rows_outer") != 0;
    const double order = line ? line->kept(pieces, outside, c.groups == 1 ? panels : 1, target) : outside == rows_outer ? 1 : 0;
    const double arithmetic = rate(e) * filled(c.columns(), columns) * filled(c.rows(), rows) * filled(c.vectors(), blocks) / met(0, columns, 1) /
                              met(1, rows, c.line(0) ? c.line(0)->taps : 1);
    const double arrived = with_arrival(dag, c, target, arithmetic, panel_bytes(dag, c, e), tiles, columns * rows);
    return arrived * balanced(tasks, target) / (1 + (pads_inline(c, e) ? 0 : copied)) + (written ? 2 : 0) + order;
  });
  return c.together == 1 && c.lanes < c.out_block && rate(best) < rate_in_lines(dag, c.anchor, c.oc / c.groups, target) ? ConfigEntity{} : best;
}

bool direct_conv_rows_suit(const te::Dag& dag, const DirectConv& c, const Target& target) {
  if (c.groups > 1 || c.together > 1 || !suits_lines(dag, c.anchor, target)) return false;
  const ConfigEntity point = direct_conv_fallback(dag, c, target);
  return point.index() >= 0 && rate_with_panels(dag, c, target, point) * lanes_used(c, target) < rate_in_lines(dag, c.anchor, c.oc, target);
}

Expected<schedule::Schedule> direct_conv_apply(const te::DagPtr& dag, const DirectConv& c, const Target& target, const ConfigEntity& e) {
  const Anchor& a = c.anchor;
  const size_t rank = c.spatial.size();
  const int64_t blocks = e.integer("oc_blocks"), unroll = e.integer("unroll_ic"), pixels = pixels_of(c, target, e), parts = parts_of(c, e);
  schedule::Builder b(dag);
  if (c.data_block > 1) b.layout(a.data, nchwc(c.data_block, rank));
  std::vector<schedule::LayoutStep::Piece> packed;  // [O / columns][I / block][taps...][terms of the block][columns][products of a term]
  for (size_t d = 0; d < rank + 2; ++d) packed.push_back({static_cast<int>(d), 0});
  if (c.terms() > 1) packed.push_back({1, c.terms()});
  packed.push_back({0, blocks * c.lanes});
  if (c.together > 1) packed.push_back({1, c.together});
  b.layout(a.weight, packed);
  layout_epilogue(b, *dag, a, nchwc(c.out_block, rank));
  if (pads_inline(c, e))
    b.compute_inline(a.pad);
  else
    schedule_padding(b, a.pad, c.data_block, target);
  inline_epilogue(b, a);
  int out = 0;
  const int acc = accumulator_stage(b, a, out);

  const auto axes = b.loops(out);  // n, oc, spatial...
  // Of a vector that is computed whole no loop goes over parts.
  const auto lengths = [&](std::vector<int64_t> whole) {
    whole.push_back(c.lanes / parts);
    if (parts > 1) whole.insert(whole.end() - 1, parts);
    return whole;
  };
  const auto oc = b.split(out, axes[1], lengths({blocks}));
  const auto w = b.split(out, axes.back(), {e.split("tile_ow")[1] / pixels, pixels});
  std::vector<ir::Var> image(axes.begin() + 2, axes.end() - 1), tile;
  if (rank > 1) {
    const auto h = b.split(out, image.back(), {e.integer("tile_oh")});
    image.back() = h[0];
    tile.push_back(h[1]);
  }
  ir::Var tiles = w[0];
  if (const auto line = line_of(*dag, a)) std::tie(image, tiles) = line->cut(b, out, w[0], e.split("tile_ow")[1], e);
  tile.push_back(w[1]);
  tile.insert(tile.end(), oc.begin() + 1, oc.end() - 1);
  std::vector<ir::Var> outer{axes[0]};
  outer.insert(outer.end(), image.begin(), image.end());
  outer.insert(e.integer("rows_outer") != 0 ? outer.end() : outer.begin() + 1, oc[0]);
  std::vector<ir::Var> order = outer;
  order.push_back(tiles);
  order.insert(order.end(), tile.begin(), tile.end());
  order.insert(order.end(), {w[2], oc.back()});
  b.reorder(out, order);
  b.compute_at(acc, out, tiles);
  for (const ir::Var& v : tile) b.unroll(out, v);
  b.vectorize(out, b.fuse(out, {w[2], oc.back()}));
  b.parallel(out, b.fuse(out, outer));

  if (pixels > 1) b.layout(acc, nchwc(c.out_block, rank));
  rules::whole_blocks(b, acc, 1, blocks * c.lanes);
  const auto in = b.loops(acc);  // n, oc, spatial..., ic, taps...
  const auto o = b.split(acc, in[1], lengths({}));
  const auto x = b.split(acc, in[rank + 1], {pixels});
  const auto ic = b.split(acc, in[rank + 2], {c.terms() / unroll, unroll});
  std::vector<ir::Var> inner{in[0], ic[0]};
  inner.insert(inner.end(), in.begin() + static_cast<std::ptrdiff_t>(rank) + 3, in.end());
  inner.insert(inner.end(), {ic[1], ic[2]});
  inner.insert(inner.end(), in.begin() + 2, in.begin() + 1 + static_cast<std::ptrdiff_t>(rank));
  inner.push_back(x[0]);
  inner.insert(inner.end(), o.begin(), o.end() - 1);
  inner.insert(inner.end(), {x[1], o.back()});
  b.reorder(acc, inner);
  for (size_t d = 0; d < rank; ++d)
    if (spans(c, target, e, d) || (d == 0 && pads_inline(c, e))) b.unroll(acc, in[in.size() - 1 - d]);
  b.unroll(acc, ic[2]);
  for (size_t d = 0; d + 1 < rank; ++d) b.unroll(acc, in[2 + d]);
  b.unroll(acc, x[0]);
  for (size_t k = 0; k + 1 < o.size(); ++k) b.unroll(acc, o[k]);
  b.vectorize(acc, b.fuse(acc, {x[1], o.back()}));
  return std::move(b).finish();
}

}  // namespace tw::space::cpu
