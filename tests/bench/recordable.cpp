// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/recordable.h"

#include "engine/base/json.h"
#include "engine/graph/to_dag.h"
#include "engine/space/templates/cpu/blocked.h"
#include "tests/bench/bench.h"

namespace tw::bench {
namespace {

using space::ConfigEntity;
using space::ConfigSpace;
using Dims = std::vector<int64_t>;

te::DagPtr one_operator(const std::string& op, const Dims& data, const Dims& weight, const graph::Attrs& attrs) {
  graph::GraphBuilder b("recorded");
  const int x = b.input("x", {kFloat32, data}), w = b.constant("w", HostArray::make(kFloat32, weight));
  b.output(need(b.node(op, {x, w}, attrs))[0]);
  const graph::Graph g = std::move(b).finish();
  const std::vector<int> nodes{0};
  return need(graph::to_dag(g, nodes, g.outputs)).dag;
}

te::DagPtr convolution(int64_t channels, int64_t size, int64_t groups) {
  graph::Attrs attrs;
  attrs.values["pads"] = Dims(4, 1);
  attrs.values["groups"] = groups;
  return one_operator("conv2d", {1, channels, size, size}, {channels, channels / groups, 3, 3}, attrs);
}

/// Bodies above this many multiply-adds only cost time to compile.
constexpr int64_t kLargestBody = 512;

bool on(const ConfigEntity& e, const char* knob) { return e.integer(knob) != 0; }

ConfigSpace dense_space(const te::Dag&, const Target&) {
  ConfigSpace s;
  s.define_knob("tile_y", {1, 2, 4, 8, 12, 16});
  s.define_knob("tile_x", {16, 32, 48, 64, 96, 128});
  s.define_knob("lanes", {4, 8, 16}, "of a vector");
  s.define_knob("unroll_k", {1, 2, 4});
  s.define_knob("columns_outer", {0, 1});
  s.define_knob("unroll_tile", {0, 1});
  s.define_knob("packed", {0, 1});
  s.add_filter([](const ConfigEntity& e) { return e.integer("tile_y") * e.integer("tile_x") / e.integer("lanes") * e.integer("unroll_k") <= kLargestBody; },
               "the body is too large");
  return s;
}

Expected<schedule::Schedule> dense_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  const space::cpu::Anchor a = *space::cpu::find_anchor(*dag, "dense");
  const int64_t rows = e.integer("tile_y"), columns = e.integer("tile_x"), unroll = e.integer("unroll_k"), lanes = e.integer("lanes");
  schedule::Builder b(dag);
  if (on(e, "packed")) b.layout(a.weight, {{0, 0}, {1, 0}, {0, columns}});
  int out = 0;
  const int acc = space::cpu::accumulator_stage(b, a, out);
  const auto axes = b.loops(out);
  const auto m = b.split(out, axes[0], {rows});
  const auto n = b.split(out, axes[1], {columns / lanes, lanes});
  b.reorder(out, on(e, "columns_outer") ? std::vector{n[0], m[0], m[1], n[1], n[2]} : std::vector{m[0], n[0], m[1], n[1], n[2]});
  b.compute_at(acc, out, on(e, "columns_outer") ? m[0] : n[0]);
  b.vectorize(out, n[2]);
  const auto in = b.loops(acc);  // m, n, k
  const auto j = b.split(acc, in[1], {lanes});
  if (unroll > 1) {
    const auto k = b.split(acc, in[2], {unroll});
    b.reorder(acc, {k[0], k[1], in[0], j[0], j[1]});
    b.unroll(acc, k[1]);
  } else {
    b.reorder(acc, {in[2], in[0], j[0], j[1]});
  }
  if (on(e, "unroll_tile")) {
    b.unroll(acc, in[0]);
    b.unroll(acc, j[0]);
    b.unroll(out, m[1]);
    b.unroll(out, n[1]);
  }
  b.vectorize(acc, j[1]);
  return std::move(b).finish();
}

/// The loops of a convolution's result: tiles of rows and columns whose blocks of channels are vectors.
struct Tile {
  ir::Var rows, columns;
};
Tile tile_result(schedule::Builder& b, int out, int acc, int64_t block, const ConfigEntity& e) {
  const auto axes = b.loops(out);  // n, oc, oh, ow
  const auto c = b.split(out, axes[1], {block});
  const auto h = b.split(out, axes[2], {e.integer("tile_oh")});
  const auto w = b.split(out, axes[3], {e.integer("tile_ow")});
  b.reorder(out, {axes[0], c[0], h[0], w[0], h[1], w[1], c[1]});
  b.compute_at(acc, out, w[0]);
  b.vectorize(out, c[1]);
  return {h[1], w[1]};
}

/// Unrolls the tile in both stages if the point says so; `in` is n, oc, oh, ow, ... of the sums.
void unroll_tile(schedule::Builder& b, int out, int acc, const Tile& t, const std::vector<ir::Var>& in, const ConfigEntity& e) {
  if (on(e, "unroll_tile")) {
    b.unroll(acc, in[2]);
    b.unroll(acc, in[3]);
    b.unroll(out, t.rows);
    b.unroll(out, t.columns);
  }
  b.vectorize(acc, in[1]);
}

ConfigSpace conv2d_space(const te::Dag&, const Target&) {
  ConfigSpace s;
  s.define_knob("tile_ow", {1, 2, 4, 7, 14, 28});
  s.define_knob("tile_oh", {1, 2});
  s.define_knob("oc_block", {4, 8, 16, 32});
  s.define_knob("ic_block", {1, 4, 16, 64});
  s.define_knob("order", {0, 1, 2}, "of the reduction: channels outside, window outside, or blocks of channels inside the rows of the window");
  s.define_knob("unroll_kw", {0, 1});
  s.define_knob("unroll_tile", {0, 1});
  return s;
}

Expected<schedule::Schedule> conv2d_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  using space::cpu::nchwc;
  const space::cpu::Anchor a = *space::cpu::find_anchor(*dag, "conv2d");
  const int64_t oc = e.integer("oc_block"), ic = e.integer("ic_block"), order = e.integer("order");
  schedule::Builder b(dag);
  if (ic > 1) b.layout(a.data, nchwc(ic));
  b.layout(a.weight, ic > 1 ? std::vector<schedule::LayoutStep::Piece>{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, ic}, {0, oc}}
                            : std::vector<schedule::LayoutStep::Piece>{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, oc}});
  space::cpu::layout_epilogue(b, *dag, a, nchwc(oc));
  space::cpu::schedule_padding(b, a.pad, ic, target);
  int out = 0;
  const int acc = space::cpu::accumulator_stage(b, a, out);
  const Tile tile = tile_result(b, out, acc, oc, e);
  const auto in = b.loops(acc);  // n, oc, oh, ow, ic, kh, kw
  const auto i = b.split(acc, in[4], {ic});
  std::vector<ir::Var> loops{in[0]};
  if (order == 0) loops.insert(loops.end(), {i[0], in[5], in[6], i[1]});
  if (order == 1) loops.insert(loops.end(), {in[5], in[6], i[0], i[1]});
  if (order == 2) loops.insert(loops.end(), {i[0], in[5], i[1], in[6]});
  loops.insert(loops.end(), {in[2], in[3], in[1]});
  b.reorder(acc, loops);
  if (on(e, "unroll_kw")) b.unroll(acc, in[6]);
  unroll_tile(b, out, acc, tile, in, e);
  return std::move(b).finish();
}

ConfigSpace depthwise_space(const te::Dag&, const Target&) {
  ConfigSpace s;
  s.define_knob("tile_ow", {1, 2, 4, 7, 14, 28});
  s.define_knob("tile_oh", {1, 2, 4});
  s.define_knob("block", {4, 8, 16, 32});
  s.define_knob("pad_inline", {0, 1});
  s.define_knob("unroll_kh", {0, 1});
  s.define_knob("unroll_kw", {0, 1});
  s.define_knob("unroll_tile", {0, 1});
  return s;
}

Expected<schedule::Schedule> depthwise_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  using space::cpu::nchwc;
  const space::cpu::Anchor a = *space::cpu::find_anchor(*dag, "depthwise_conv2d");
  const int64_t block = e.integer("block");
  schedule::Builder b(dag);
  b.layout(a.data, nchwc(block));
  b.layout(a.weight, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, block}});
  space::cpu::layout_epilogue(b, *dag, a, nchwc(block));
  if (on(e, "pad_inline"))
    b.compute_inline(a.pad);
  else
    space::cpu::schedule_padding(b, a.pad, block, target);
  int out = 0;
  const int acc = space::cpu::accumulator_stage(b, a, out);
  const Tile tile = tile_result(b, out, acc, block, e);
  const auto in = b.loops(acc);  // n, c, oh, ow, kh, kw
  b.reorder(acc, {in[0], in[4], in[5], in[2], in[3], in[1]});
  if (on(e, "unroll_kh")) b.unroll(acc, in[4]);
  if (on(e, "unroll_kw")) b.unroll(acc, in[5]);
  unroll_tile(b, out, acc, tile, in, e);
  return std::move(b).finish();
}

constexpr const char* kSummary = "Plain tiling, for recorded spaces";

}  // namespace

std::span<const Recordable> recordables() {
  static const Recordable kAll[] = {
      {"dense_64x384x384",
       [] {
         return one_operator("dense", {64, 384}, {384, 384}, {});
       },
       {"dense.plain", nullptr, dense_space, dense_apply, nullptr, kSummary, ""}},
      {"conv2d_64x28x28", [] { return convolution(64, 28, 1); }, {"conv2d.plain", nullptr, conv2d_space, conv2d_apply, nullptr, kSummary, ""}},
      {"depthwise_conv2d_192x28x28",
       [] { return convolution(192, 28, 192); },
       {"depthwise_conv2d.plain", nullptr, depthwise_space, depthwise_apply, nullptr, kSummary, ""}},
  };
  return kAll;
}

}  // namespace tw::bench
