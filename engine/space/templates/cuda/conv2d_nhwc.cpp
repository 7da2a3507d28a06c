// SPDX-License-Identifier: Apache-2.0
// AutoTVM's direct convolution with channels last for GPUs, data [N, H, W, C] and kernel [KH, KW, C, O]. Graphs have channels first: such tasks come from
// AutoTVM's logs or are written by hand. AutoTVM shares the images of a batch out to the threads of `tile_n`, which for a single image leaves all but a few
// idle; here they are the pixels of a row.
#include "engine/space/templates/templates.h"

#include <algorithm>
#include <numeric>

#include "engine/space/fallback.h"
#include "engine/space/templates/cuda/tiles.h"

namespace tw::space::cuda {

namespace {

/// Multiply-adds up to which the loops around them are unrolled; AutoTVM has no knob for it.
constexpr int64_t kUnrolled = 512;

std::optional<cpu::Anchor> channels_last_anchor(const te::Dag& dag) { return find_anchor(dag, "conv2d_nhwc"); }

const te::Op& channels_last(const te::Dag& dag) { return dag.ops[static_cast<size_t>(channels_last_anchor(dag)->reduce)]; }

/// A tile of one axis: no longer than the axis, which it need not divide.
AxisTile tile_of(const ConfigEntity& e, const std::string& axis, int64_t extent) {
  AxisTile t{e.integer("vthread_" + axis), e.integer("num_thread_" + axis), std::min(extent, e.integer("tile_" + axis))};
  t.threads = std::min(t.threads, (extent + t.inner - 1) / t.inner);
  t.vthreads = std::min(t.vthreads, (extent + t.inner * t.threads - 1) / (t.inner * t.threads));
  return t;
}

Tiling channels_last_tiling(const te::Op& op, const ConfigEntity& e) {
  const int64_t in = op.reduce_axes[2].extent, out = op.axes[3].extent, step = std::min(in, e.integer("step"));
  Tiling t;
  t.axes = {AxisTile{}, AxisTile{}, tile_of(e, "n", op.axes[2].extent), tile_of(e, "c", out)};
  t.directions = {kZ, kZ, kY, kX};
  t.reduce = {1, 1, step};
  // Vectors end where tiles and rows do.
  const int64_t v = e.integer("vectorize");
  t.vector = {in % step == 0 ? std::gcd(v, step) : 1, out % t.axes[3].span() == 0 ? std::gcd(v, t.axes[3].span()) : 1};
  t.max_unroll = kUnrolled;
  return t;
}

int64_t tile_bytes(const te::Op& op, const Tiling& t) {
  const auto strides = op.attrs.find("strides");
  const int64_t stride = strides == op.attrs.end() ? 1 : strides->second[1];
  const int64_t pixels = (t.axes[2].span() - 1) * stride + 1;
  return (pixels + t.axes[3].span()) * t.reduce[2] * op.output->dtype.bytes();
}

bool conv2d_nhwc_matches(const te::Dag& dag, const Target&) {
  const auto a = channels_last_anchor(dag);
  return a && channels_last(dag).axes.size() == 4 && channels_last(dag).reduce_axes.size() == 3;
}

ConfigSpace conv2d_nhwc_space(const te::Dag& dag, const Target& target) {
  const te::Op op = channels_last(dag);
  ConfigSpace space;
  space.define_knob("tile_n", {2, 4, 8}, "pixels of a thread");
  space.define_knob("tile_c", {2, 4, 8}, "output channels of a thread");
  space.define_knob("num_thread_n", {4, 8, 16}, "threads along a row of pixels");
  space.define_knob("num_thread_c", {4, 8, 16}, "threads along the output channels");
  space.define_knob("vthread_n", {1, 2}, "virtual threads along a row of pixels");
  space.define_knob("vthread_c", {1, 2}, "virtual threads along the output channels");
  space.define_knob("step", {16, 3, 32, 64}, "input channels in shared memory");
  space.define_knob("vectorize", {1, 2, 4, 8}, "neighbouring channels that a thread fetches at once, at most");
  add_limits(
      space, target, [op](const ConfigEntity& e) { return channels_last_tiling(op, e); },
      [op](const ConfigEntity& e) { return tile_bytes(op, channels_last_tiling(op, e)); });
  return space;
}

Expected<schedule::Schedule> conv2d_nhwc_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return tiled_schedule(dag, *channels_last_anchor(*dag), channels_last_tiling(channels_last(*dag), e));
}

ConfigEntity conv2d_nhwc_fallback(const te::Dag& dag, const Target& target) {
  const ConfigSpace space = conv2d_nhwc_space(dag, target);
  ConfigEntity best;
  for (const auto& [n, c] : {std::pair{4, 4}, {4, 2}, {2, 2}}) {
    const ConfigEntity e = point_with(
        space, {{"tile_n", n}, {"tile_c", c}, {"num_thread_n", 8}, {"num_thread_c", 16}, {"vthread_n", 1}, {"vthread_c", 1}, {"step", 16}, {"vectorize", 4}});
    if (!space.filtered_reason(e).empty()) continue;
    best = e;
    int64_t blocks = 1;
    const Tiling t = channels_last_tiling(channels_last(dag), e);
    for (size_t k = 0; k < t.axes.size(); ++k) blocks *= (channels_last(dag).axes[k].extent + t.axes[k].span() - 1) / t.axes[k].span();
    if (blocks >= target.gpu->multiprocessors) break;
  }
  return best;
}

}  // namespace

Template conv2d_nhwc() {
  return {"conv2d_nhwc.gpu",
          conv2d_nhwc_matches,
          conv2d_nhwc_space,
          conv2d_nhwc_apply,
          conv2d_nhwc_fallback,
          "AutoTVM's direct convolution with channels last for GPUs. Blocks take pixels of a row and output channels; threads fetch vectors of channels.",
          kAutotvm};
}

}  // namespace tw::space::cuda
