// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/narrow_conv.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "engine/target/cpu_table.h"

namespace tw::space::cpu {

namespace {

/// Neighbouring columns from which the lanes of their sums are added up together, turned so that each column is a lane.
constexpr int64_t kTurned = 8;
bool turns(int64_t columns) { return columns >= kTurned && std::has_single_bit(static_cast<uint64_t>(columns)); }

/// Cycles in which the lanes of one sum are added up: two operations for each halving and two for the result, about three a cycle.
double lane_sum_cycles(int64_t lanes) { return (2 * std::log2(static_cast<double>(lanes)) + 2) / 3; }
/// Cycles of a vector of values of a function such as exp, about.
constexpr double kFunctionCycles = 15;
/// Vectors of multiply-adds that begin in a cycle where vectors along two, four or eight outputs have a broadcast of their own each; measured on a Zen 5.
constexpr double kNarrowVectors = 1.7;

/// Bytes that come a cycle from the level-2 cache beside what else does, about: with windows of 9x9 14 were measured on a Xeon.
constexpr double kNearBytesPerCycle = 16;

bool pads_inline(const NarrowConv& c, const ConfigEntity& e) { return c.zero_padded() && e.integer("pad_inline") != 0; }

/// The rate at which weights arrive that pass by once for each tile, where the nearest cache does not keep them.
double weights_arrive(const NarrowConv& c, const Target& target, int64_t columns) {
  const double bytes = static_cast<double>(target.vector_bits) / 8 * target::pipes_of(target.cpu).fmas / static_cast<double>(columns);
  return 2 * c.weight_bytes > target.l1d_bytes ? std::min(1.0, kNearBytesPerCycle / bytes) : 1;
}

/// Share of the multiply-add rate that the vectors of a tile reach, with what adds up their lanes: turned, it took 0.7 of the time on a Zen 5.
double rate_of(const NarrowConv& c, const Target& target, const ConfigEntity& e) {
  const int64_t columns = e.split("tile_ow")[1];
  const double at_best = static_cast<double>(c.vectors) / target::pipes_of(target.cpu).fmas;
  const double sums = lane_sum_cycles(c.lanes) * (turns(columns) ? 0.7 : 1);
  return at_best / (at_best / std::min(tile_rate(c.oc, columns, target), weights_arrive(c, target, columns)) + sums);
}

}  // namespace

std::optional<NarrowConv> find_narrow_conv(const te::Dag& dag, const Target& target, std::string_view tag) {
  const auto a = find_anchor(dag, tag);
  if (!a) return std::nullopt;
  const te::Op &op = dag.ops[static_cast<size_t>(a->reduce)], &weight = dag.ops[static_cast<size_t>(a->weight)];
  const auto groups = op.attrs.find("groups");
  if (groups != op.attrs.end() && groups->second[0] != 1) return std::nullopt;
  const std::vector<int64_t>& out = op.output->shape;
  const int64_t ic = weight.output->shape[1];
  NarrowConv c{*a, out[0], ic, out[1], channel_block(ic, target), 1, {out.begin() + 2, out.end()}, weight.output->bytes(), te::windows_of(dag, op)};
  if (2 * c.oc > target.lanes(kFloat32) || c.lanes < 4) return std::nullopt;
  int64_t taps = 1;
  for (size_t r = 1; r < op.reduce_axes.size(); ++r) taps *= op.reduce_axes[r].extent;
  c.vectors = taps * blocks_for(ic, c.lanes);
  // Cycles of a pixel, against vectors along the outputs, of which two pixels share one where two blocks of outputs fill it. Functions after the sums are
  // computed for several columns at once here, eight or so, there for the outputs of one.
  const int64_t block = channel_block(c.oc, target);
  const double functions = kFunctionCycles * static_cast<double>(te::function_calls(dag)) / static_cast<double>(op.output->num_elements());
  const double each = static_cast<double>(c.vectors) / target::pipes_of(target.cpu).fmas + lane_sum_cycles(c.lanes) + functions / kTurned;
  const double mine = static_cast<double>(c.oc) * each;
  const double theirs = static_cast<double>(taps * ic) / kNarrowVectors / (2 * block == target.lanes(kFloat32) ? 2 : 1) + functions;
  return block == 1 || mine < theirs ? std::optional(c) : std::nullopt;
}

ConfigSpace narrow_conv_space(const te::Dag& dag, const NarrowConv& c, const Target& target) {
  ConfigSpace space;
  std::vector<std::vector<int64_t>> columns;
  for (const int64_t t : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14})
    if (t <= c.columns()) columns.push_back({-1, t});
  space.define_split("tile_ow", c.columns(), {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "output columns of the register tile"});
  space.define_knob("unroll_kw", {0, 1}, "1: a row of the kernel window is written out, so that neighbouring taps share loads");
  if (c.zero_padded()) {
    space.define_knob("pad_inline", {0, 1}, "1: zero padding is tested where the input is read, 0: the input is copied into a padded array first");
    space.add_filter(
        [c](const ConfigEntity& e) {
          const bool pieces = c.spatial.size() == 1 && e.integer("line_pieces") > 1;
          return !pads_inline(c, e) ||
                 (e.integer("unroll_kw") != 0 && !pieces && knows_padding(line_from(c.window, c.spatial.size(), 0), c.columns(), e.split("tile_ow")[1]));
        },
        "tests for padding would not be known ahead of time");
  }
  if (const auto line = line_of(dag, c.anchor)) line->define(space);
  space.add_filter([target, oc = c.oc](const ConfigEntity& e) { return fits_registers(oc, e.split("tile_ow")[1], target); },
                   "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity narrow_conv_fallback(const te::Dag& dag, const NarrowConv& c, const Target& target) {
  const int64_t lines = std::accumulate(c.spatial.begin(), c.spatial.end() - 1, c.batch, std::multiplies<>());
  const bool one_line = c.spatial.size() == 1;
  return narrow_conv_space(dag, c, target).best_by([&](const ConfigEntity& e) {
    const int64_t columns = e.split("tile_ow")[1], pieces = one_line ? e.integer("line_pieces") : 1;
    const double order = pads_inline(c, e) ? 2 : e.integer("unroll_kw") == 0 ? 1 : 0;
    return rate_of(c, target, e) * filled(c.columns(), columns) * balanced(lines * pieces, target) + order - 0.0001 * static_cast<double>(pieces);
  });
}

bool narrow_conv_rows_suit(const te::Dag& dag, const NarrowConv& c, const Target& target) {
  if (!suits_lines(dag, c.anchor, target)) return false;
  const ConfigEntity point = narrow_conv_fallback(dag, c, target);
  const double lanes = filled(c.ic, c.lanes) * register_share(c.lanes, target);
  return point.index() >= 0 && rate_of(c, target, point) * lanes < rate_in_lines(dag, c.anchor, c.oc, target);
}

Expected<schedule::Schedule> narrow_conv_apply(const te::DagPtr& dag, const NarrowConv& c, const Target& target, const ConfigEntity& e) {
  const Anchor& a = c.anchor;
  const int64_t lanes = c.lanes;
  const size_t rank = c.spatial.size();
  schedule::Builder b(dag);
  b.layout(a.data, nchwc(lanes, rank));
  std::vector<schedule::LayoutStep::Piece> packed{{0, 0}, {1, 0}};  // [O][I / lanes][taps...][lanes]
  for (size_t d = 2; d < rank + 2; ++d) packed.push_back({static_cast<int>(d), 0});
  packed.push_back({1, lanes});
  b.layout(a.weight, packed);
  if (pads_inline(c, e))
    b.compute_inline(a.pad);
  else
    schedule_padding(b, a.pad, lanes, target);
  inline_epilogue(b, a);
  int out = 0;
  int acc = accumulator_stage(b, a, out);
  const int parts = b.rfactor(acc, b.split(acc, b.loops(acc)[2 + rank], {lanes})[1]);
  ++acc;
  ++out;

  const auto axes = b.loops(out);  // n, oc, spatial...
  const auto w = b.split(out, axes.back(), {e.split("tile_ow")[1]});
  std::vector<ir::Var> lines(axes.begin() + 2, axes.end() - 1), outer{axes[0]};
  ir::Var tiles = w[0];
  if (const auto line = line_of(*dag, a)) std::tie(lines, tiles) = line->cut(b, out, w[0], e.split("tile_ow")[1], e);
  outer.insert(outer.end(), lines.begin(), lines.end());
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {tiles, axes[1], w[1]});
  b.reorder(out, order);
  b.compute_at(acc, out, tiles);
  b.compute_at(parts, out, tiles);
  const int64_t columns = e.split("tile_ow")[1];
  const bool turned = turns(columns);
  b.unroll(out, axes[1]);
  b.vectorize(out, w[1]);
  b.parallel(out, b.fuse(out, outer));

  const auto sum = b.loops(acc);  // n, oc, spatial..., lane
  std::vector<ir::Var> summed{sum[0]};
  summed.insert(summed.end(), sum.begin() + 2, sum.end() - 2);
  const ir::Var &pixel = sum[1 + rank], &lane = sum[2 + rank];
  summed.push_back(sum[1]);
  summed.push_back(turned ? lane : pixel);
  summed.push_back(turned ? pixel : lane);
  b.reorder(acc, summed);
  for (size_t k = 1; k < 3; ++k) b.unroll(acc, summed[summed.size() - k - 1]);
  b.vectorize(acc, summed.back());

  const auto in = b.loops(parts);  // lane, n, oc, spatial..., ic, taps...
  std::vector<ir::Var> inner{in[1]};
  inner.insert(inner.end(), in.begin() + 3, in.begin() + 2 + static_cast<std::ptrdiff_t>(rank));
  inner.insert(inner.end(), in.begin() + 3 + static_cast<std::ptrdiff_t>(rank), in.end());
  inner.insert(inner.end(), {in[2], in[2 + rank], in[0]});
  b.reorder(parts, inner);
  if (e.integer("unroll_kw") != 0) b.unroll(parts, in.back());
  b.unroll(parts, in[2]);
  b.unroll(parts, in[2 + rank]);
  b.vectorize(parts, in[0]);
  return std::move(b).finish();
}

}  // namespace tw::space::cpu
