// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution with channels last for GPUs, data [N, H, W, C] and kernel [KH, KW, C, M] for M results of each channel. Graphs have channels first:
// such tasks come from logs or are written by hand. TVM v0.9.0 has a fixed schedule of this name: threads take channels, and only the kernel passes through
// shared memory. The knobs are those of its template for channels first, and one for what passes through shared memory.
#include "engine/space/templates/templates.h"

#include <algorithm>
#include <numeric>

#include "engine/space/templates/cuda/tiles.h"

namespace tw::space::cuda {

namespace {

/// Values of the knob `shared`.
enum InShared { kNeither, kKernel, kBoth };
/// Vectors of channels that neighbouring threads of an untuned kernel take.
constexpr int64_t kVectorsBeside = 8;

std::optional<cpu::Anchor> channelwise_anchor(const te::Dag& dag) { return find_anchor(dag, "depthwise_conv2d_nhwc"); }

const te::Op& channelwise(const te::Dag& dag) { return dag.ops[static_cast<size_t>(channelwise_anchor(dag)->reduce)]; }

int64_t multiplier_of(const te::Dag& dag) { return dag.ops[static_cast<size_t>(channelwise_anchor(dag)->weight)].output->shape[3]; }

/// `multiplier`: results of each channel.
Tiling channelwise_tiling(const te::Op& op, int64_t multiplier, const ConfigEntity& e) {
  Tiling t;
  t.axes = {AxisTile{}, axis_tile(e, "tile_y"), axis_tile(e, "tile_x"), axis_tile(e, "tile_f")};
  t.directions = {kZ, kZ, kY, kX};
  t.reduce = {op.reduce_axes[0].extent, op.reduce_axes[1].extent};
  t.fetch_once = true;
  set_unroll(t, e);
  const int64_t most = kVectorBytes / op.output->dtype.bytes(), results = t.axes[3].span(), shared = e.integer("shared");
  t.vector[0] = shared == kBoth ? results % multiplier == 0 ? std::gcd(most, results / multiplier) : 1 : 0;
  t.vector[1] = shared == kNeither ? 0 : std::gcd(most, results % multiplier == 0 ? results : multiplier);
  t.vectors_of_results = true;
  return t;
}

int64_t fetched_bytes(const te::Op& op, int64_t multiplier, const Tiling& t) {
  const auto attribute = [&](const char* name, size_t d) {
    const auto it = op.attrs.find(name);
    return it == op.attrs.end() ? 1 : it->second[d];
  };
  const int64_t results = t.axes[3].span();
  const bool whole = results % multiplier == 0;
  const int64_t channels = whole ? results / multiplier : (results - 1) / multiplier + 2;
  int64_t image = channels, kernel = whole ? results : channels * multiplier;
  for (size_t d = 0; d < 2; ++d) {
    image *= (t.axes[d + 1].span() - 1) * attribute("strides", d) + (t.reduce[d] - 1) * attribute("dilations", d) + 1;
    kernel *= t.reduce[d];
  }
  return ((t.vector[0] > 0 ? image : 0) + (t.vector[1] > 0 ? kernel : 0)) * op.output->dtype.bytes();
}

bool depthwise_conv2d_nhwc_matches(const te::Dag& dag, const Target&) {
  const auto a = channelwise_anchor(dag);
  return a && channelwise(dag).axes.size() == 4 && channelwise(dag).reduce_axes.size() == 2 &&
         dag.ops[static_cast<size_t>(a->weight)].output->shape.size() == 4;
}

ConfigSpace depthwise_conv2d_nhwc_space(const te::Dag& dag, const Target& target) {
  const te::Op op = channelwise(dag);
  const int64_t multiplier = multiplier_of(dag);
  ConfigSpace space;
  space.define_split("tile_f", op.axes[3].extent, {.num_outputs = 4, .help = "channels: blocks, virtual threads, threads, of a thread"});
  space.define_split("tile_y", op.axes[1].extent, {.num_outputs = 4, .help = "rows: blocks, virtual threads, threads, of a thread"});
  space.define_split("tile_x", op.axes[2].extent, {.num_outputs = 4, .help = "columns: blocks, virtual threads, threads, of a thread"});
  define_unroll(space, {0, 256, 1500});
  space.define_knob("shared", {kNeither, kKernel, kBoth}, "what a block fetches into shared memory: 0 nothing, 1 the kernel, 2 its part of the image as well");
  add_limits(
      space, target, [op, multiplier](const ConfigEntity& e) { return channelwise_tiling(op, multiplier, e); },
      [op, multiplier](const ConfigEntity& e) { return fetched_bytes(op, multiplier, channelwise_tiling(op, multiplier, e)); });
  return space;
}

Expected<schedule::Schedule> depthwise_conv2d_nhwc_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return tiled_schedule(dag, *channelwise_anchor(*dag), channelwise_tiling(channelwise(*dag), multiplier_of(*dag), e));
}

/// A vector of channels of a pixel for each thread, eight of them side by side, and the image through shared memory, for windows overlap: of some two hundred
/// combinations the one that the simulator finds nearest to each layer's best, over layers of MobileNets on three GPUs.
ConfigEntity depthwise_conv2d_nhwc_fallback(const te::Dag& dag, const Target& target) {
  const ConfigSpace space = depthwise_conv2d_nhwc_space(dag, target);
  const te::Op& op = channelwise(dag);
  const int64_t vector = kVectorBytes / op.output->dtype.bytes();
  return busy_point(
      target, {{{-1, 1, 8, 1}, {-1, 1, 4, 1}, {}}, {{-1, 1, 4, 1}, {-1, 1, 4, 1}, {}}, {{-1, 1, 2, 1}, {-1, 1, 4, 1}, {}}},
      [&](const TileLimits& l) {
        return limited_point(space, {{"tile_y", l.rows}, {"tile_x", l.columns}, {"tile_f", {-1, 1, kVectorsBeside, vector}}},
                             {{"auto_unroll_max_step", 256}, {"unroll_explicit", 0}, {"shared", kBoth}});
      },
      [&](const ConfigEntity& e) {
        int64_t blocks = op.output->num_elements();
        for (const AxisTile& a : channelwise_tiling(op, multiplier_of(dag), e).axes) blocks /= a.span();
        return blocks;
      });
}

}  // namespace

Template depthwise_conv2d_nhwc() {
  return {"depthwise_conv2d_nhwc.cuda",
          depthwise_conv2d_nhwc_matches,
          depthwise_conv2d_nhwc_space,
          depthwise_conv2d_nhwc_apply,
          depthwise_conv2d_nhwc_fallback,
          "Depthwise convolution with channels last for GPUs. Threads take vectors of neighbouring channels of a few pixels; whether image and kernel pass "
          "through shared memory is open. TVM's schedule of this name has no knobs: these are those of channels first.",
          "TVM v0.9.0 (name, and that threads take channels)"};
}

}  // namespace tw::space::cuda
