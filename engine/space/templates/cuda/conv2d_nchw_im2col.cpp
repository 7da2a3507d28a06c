// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/conv2d_nchw_im2col.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/space/fallback.h"
#include "engine/space/templates/cuda/tiles.h"

namespace tw::space::cuda {

namespace {

constexpr int64_t kWrittenOut = 1024;
/// Terms that are in shared memory at a time in untuned kernels, and those that a block should have at least.
constexpr int64_t kDepth = 16, kLeastTerms = 64;
/// Steps of a block in the time of a launch.
constexpr double kSecondLaunch = 1700;

struct Gemm {
  int64_t channels, pixels, terms;
  int64_t run;  ///< neighbouring pixels that a thread may fetch at once
};

Gemm gemm_of(const te::Dag& dag) {
  const cpu::Anchor a = *cpu::find_anchor(dag, "conv2d");
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const std::vector<int64_t>& out = op.output->shape;
  Gemm g{out[1], op.output->num_elements() / out[1], 1, 1};
  for (const te::Axis& r : op.reduce_axes) g.terms *= r.extent;
  // A window of one tap without strides or padding leaves the pixels of a channel as they lie.
  if (a.pad < 0 && g.terms == op.reduce_axes.front().extent && dag.ops[static_cast<size_t>(a.data)].output->shape[2] == out[2] &&
      dag.ops[static_cast<size_t>(a.data)].output->shape[3] == out[3])
    g.run = std::gcd(kVector, out[2] * out[3]);
  return g;
}

/// Numbers of terms that divide all of them, so that nothing is added up in vain.
std::vector<Json> depths(const Gemm& g) {
  std::vector<Json> out;
  for (int64_t d = 4; d <= 32; ++d)
    if (g.terms % d == 0) out.emplace_back(d);
  return out;
}

/// Elements of a thread as runs of a vector, between which those of the other threads lie.
AxisTile runs(int64_t threads, int64_t each) {
  const int64_t run = std::min(each, kVector);
  return {each / run, threads, run};
}

Tiling gemm_tiling(const ConfigEntity& e, const Gemm& g, int capability) {
  Tiling t;
  t.axes = {runs(e.integer("channel_threads"), e.integer("channels")), runs(e.integer("pixel_threads"), e.integer("pixels"))};
  t.directions = {kY, kX};
  t.reduce = {e.integer("depth")};
  t.max_unroll = kWrittenOut;
  t.vector = {std::gcd(g.run, t.axes[1].span()), std::gcd(kVector, std::gcd(g.channels, t.axes[0].span()))};
  const int arrays = static_cast<int>(e.integer("arrays"));
  if (arrays > 1 && capability >= kCopiesAhead)
    t.pipeline = arrays;
  else
    t.double_buffer = arrays > 1;
  return t;
}

/// Time of a point with 16 x 16 threads, roughly, in steps of a block that adds one product to a result of each thread.
double point_cost(const Gemm& g, int64_t channels, int64_t pixels, int64_t parts, int64_t multiprocessors) {
  const auto ceil_div = [](int64_t a, int64_t b) { return (a - 1) / b + 1; };
  // A block alone on a multiprocessor waits half of its time.
  const int64_t blocks = ceil_div(g.channels, 16 * channels) * ceil_div(g.pixels, 16 * pixels) * parts;
  const double rounds = static_cast<double>(std::max<int64_t>(2, ceil_div(blocks, multiprocessors)));
  const double step = static_cast<double>(channels * pixels + 2 * (channels + pixels));
  const double sums = parts == 1 ? 0 : kSecondLaunch + static_cast<double>(g.channels * g.pixels * parts) / static_cast<double>(8 * multiprocessors);
  return rounds * static_cast<double>(g.terms / parts) * step + sums;
}

}  // namespace

bool conv2d_nchw_im2col_matches(const te::Dag& dag, const Target&) {
  const auto a = cpu::find_anchor(dag, "conv2d");
  if (!a) return false;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  const auto groups = op.attrs.find("groups");
  return op.axes.size() == 4 && op.reduce_axes.size() == 3 && (groups == op.attrs.end() || groups->second.front() == 1) && !depths(gemm_of(dag)).empty();
}

ConfigSpace conv2d_nchw_im2col_space(const te::Dag& dag, const Target& target) {
  const Gemm g = gemm_of(dag);
  const int capability = target.gpu->capability;
  ConfigSpace space;
  space.define_knob("channel_threads", {4, 8, 16, 32}, "threads of a block along the output channels");
  space.define_knob("channels", {1, 2, 4, 8}, "output channels of a thread");
  space.define_knob("pixel_threads", {4, 8, 16, 32}, "threads of a block along the pixels");
  space.define_knob("pixels", {1, 2, 4, 8}, "pixels of a thread");
  space.define_knob("depth", depths(g), "terms in shared memory at a time");
  space.define_knob("parts", {1, 2, 4, 8, 16, 32}, "blocks that share a sum; a second kernel adds up their parts");
  space.define_knob("arrays", capability >= kCopiesAhead ? std::vector<Json>{1, 2, 3, 4} : std::vector<Json>{1, 2}, "tiles of each operand, filled ahead");
  space.add_filter(
      [g](const ConfigEntity& e) {
        const int64_t parts = e.integer("parts");
        return parts == 1 || g.terms % (e.integer("depth") * parts) == 0;
      },
      "blocks would share a sum unevenly");
  space.add_filter([](const ConfigEntity& e) { return e.integer("channel_threads") * e.integer("pixel_threads") >= target::kWarp; },
                   "a block has less than a warp");
  add_limits(
      space, target, [g, capability](const ConfigEntity& e) { return gemm_tiling(e, g, capability); },
      [g, capability](const ConfigEntity& e) {
        const Tiling t = gemm_tiling(e, g, capability);
        return e.integer("arrays") * (t.axes[0].span() + t.axes[1].span()) * t.reduce[0] * kFloat32.bytes();
      });
  return space;
}

Expected<schedule::Schedule> conv2d_nchw_im2col_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Gemm g = gemm_of(*dag);
  const cpu::Anchor a = *cpu::find_anchor(*dag, "conv2d");
  const Tiling t = gemm_tiling(e, g, target.gpu->capability);
  const int64_t parts = e.integer("parts");
  schedule::Builder b(dag);
  cpu::inline_epilogue(b, a);
  const int col = b.im2col(a.reduce), filter = col + 1, product = col + 2, conv = col + 3, output = a.output + 3;
  if (!b.ok()) return std::move(b).finish();
  if (conv != output) b.compute_inline(conv);
  b.layout(a.weight, {{1, 0}, {2, 0}, {3, 0}, {0, 0}});  // [I][H][W][O]: threads fetch neighbouring channels
  const std::string col_name = b.at(col).op.name, filter_name = b.at(filter).op.name, out = b.at(output).op.name;
  std::string sums = b.at(product).op.name, result = out;
  const auto pad = [&](int stage, size_t axis, int64_t factor) { b.pad(stage, b.loops(stage)[axis], factor); };
  pad(filter, 1, t.axes[0].span());
  pad(col, 1, t.axes[1].span());
  if (parts > 1) {
    result = share_sum(b, product, out, parts);
    if (!b.ok()) return std::move(b).finish();
    pad(b.stage(result), 1, t.axes[0].span());
    pad(b.stage(result), 2, t.axes[1].span());
    const int acc = b.cache_write(b.stage(result), "local");
    if (!b.ok()) return std::move(b).finish();
    sums = b.at(acc).op.name;
  } else {
    pad(product, 0, t.axes[0].span());
    pad(product, 1, t.axes[1].span());
    const auto l = b.loops(output);  // n, o, y, x
    b.reorder(output, {l[1], l[0], l[2], l[3]});
    b.fuse(output, {l[0], l[2], l[3]});
  }
  Tiling whole = t;
  if (parts > 1) {
    whole.axes.insert(whole.axes.begin(), AxisTile{});
    whole.directions.insert(whole.directions.begin(), kZ);
  }
  tile_product(b, result, sums, {col_name, filter_name}, whole);
  b.compute_inline(b.stage(col_name));
  b.compute_inline(b.stage(filter_name));
  if (a.pad >= 0) b.compute_inline(a.pad);
  return std::move(b).finish();
}

ConfigEntity conv2d_nchw_im2col_fallback(const te::Dag& dag, const Target& target) {
  const Gemm g = gemm_of(dag);
  if (g.terms < kLeastTerms) return {};
  int64_t depth = 0;  // as near to the usual one as divides the terms
  for (const Json& d : depths(g))
    if (std::abs(d.get<int64_t>() - kDepth) <= std::abs(depth - kDepth)) depth = d.get<int64_t>();
  const ConfigSpace space = conv2d_nchw_im2col_space(dag, target);
  ConfigEntity best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [channels, pixels] : {std::pair{8, 8}, {4, 8}, {4, 4}, {4, 2}, {2, 2}})
    for (const int64_t parts : {1, 2, 4, 8, 16, 32}) {
      ConfigEntity e = point_with(space, {{"channel_threads", 16},
                                          {"channels", channels},
                                          {"pixel_threads", 16},
                                          {"pixels", pixels},
                                          {"depth", depth},
                                          {"parts", parts},
                                          {"arrays", target.gpu->capability >= kCopiesAhead ? 3 : 1}});
      if (g.terms / parts < kLeastTerms || !space.filtered_reason(e).empty()) continue;
      const double cost = point_cost(g, channels, pixels, parts, target.gpu->multiprocessors);
      if (cost >= least) continue;
      least = cost;
      best = std::move(e);
    }
  return best;
}

}  // namespace tw::space::cuda
