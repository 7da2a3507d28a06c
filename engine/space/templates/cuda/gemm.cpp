// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/space/fallback.h"
#include "engine/space/templates/cuda/dense.h"

namespace tw::space::cuda {

namespace {

constexpr int64_t kWrittenOut = 1024;
/// Terms that are in shared memory at a time in untuned kernels, and those that a block should have at least.
constexpr int64_t kDepth = 16, kLeastTerms = 64;
/// What the second launch takes, some 2 us at 1.7 GHz, in steps of two cycles: 256 multiply-adds on 128 lanes.
constexpr double kSecondLaunch = 1700;
/// Parts of sums that a multiprocessor writes and reads again in a step, at some 32 bytes a cycle.
constexpr int64_t kPartsPerStep = 8;

/// The operators, and where their output channels are.
struct GemmKind {
  const char* tag;
  bool last;         ///< the last axis of the result; the second one otherwise
  bool weight_last;  ///< the last axis of the weights; the first one otherwise
};
constexpr GemmKind kGemmKinds[] = {
    {"dense", true, false}, {"conv1d", false, false}, {"conv2d", false, false}, {"conv3d", false, false}, {"conv2d_nhwc", true, true}};

struct Gemm {
  cpu::Anchor anchor;
  size_t channel_axis, weight_axis;
  DType type;
  int64_t channels, pixels, terms;
  int64_t run;         ///< neighbouring pixels that a thread may fetch at once
  bool dense;          ///< no convolution
  bool channels_last;  ///< in memory: neighbouring terms are neighbours, neighbouring pixels lie apart
};

std::optional<Gemm> find_gemm(const te::Dag& dag) {
  for (const GemmKind& kind : kGemmKinds) {
    const auto a = find_anchor(dag, kind.tag);
    if (!a) continue;
    const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
    if (const auto groups = op.attrs.find("groups"); groups != op.attrs.end() && groups->second.front() != 1) return std::nullopt;
    const std::vector<int64_t>&out = op.output->shape, &in = dag.ops[static_cast<size_t>(a->data)].output->shape;
    const auto& weight = dag.ops[static_cast<size_t>(a->weight)].output;
    const size_t channels = kind.last ? out.size() - 1 : 1;
    Gemm g{*a, channels, kind.weight_last ? weight->shape.size() - 1 : 0, weight->dtype, out[channels], 1,
           1,  1,        std::string_view(kind.tag) == "dense",           kind.last};
    g.pixels = op.output->num_elements() / g.channels;
    g.terms = weight->num_elements() / g.channels;
    // A window of one tap without strides or padding leaves the pixels of a channel as they lie.
    if (!kind.last && a->pad < 0 && g.terms == in[1] && std::equal(in.begin() + 2, in.end(), out.begin() + 2, out.end()))
      g.run = std::gcd(kVectorBytes / g.type.bytes(), g.pixels / out[0]);
    return g;
  }
  return std::nullopt;
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

/// Of the product in the order that the result has in memory: channels of pixels, or pixels of channels.
struct GemmTiling {
  Tiling tiling;
  AxisTile channels, pixels;
};

GemmTiling gemm_tiling(const ConfigEntity& e, const Gemm& g, const Target& target) {
  GemmTiling out{{}, runs(e.integer("channel_threads"), e.integer("channels")), runs(e.integer("pixel_threads"), e.integer("pixels"))};
  Tiling& t = out.tiling;
  t.axes = {out.channels, out.pixels};
  if (g.channels_last) std::swap(t.axes[0], t.axes[1]);
  t.directions = {kY, kX};
  t.reduce = {e.integer("depth")};
  t.max_unroll = kWrittenOut;
  t.vector = {std::gcd(g.run, out.pixels.span()), std::gcd(kVectorBytes / g.type.bytes(), std::gcd(g.channels, out.channels.span()))};
  t.across = {g.channels_last, false};
  const int arrays = static_cast<int>(e.integer("arrays"));
  if (arrays > 1 && target.gpu->capability >= kCopiesAhead && g.type == kFloat32)
    t.pipeline = arrays;
  else
    t.double_buffer = arrays > 1;
  return out;
}

/// Time of a point with 16 x 16 threads, roughly, in steps of a block that adds one product to a result of each thread.
double point_cost(const Gemm& g, int64_t channels, int64_t pixels, int64_t parts, int64_t multiprocessors) {
  const auto ceil_div = [](int64_t a, int64_t b) { return (a - 1) / b + 1; };
  // A block alone on a multiprocessor waits half of its time.
  const int64_t blocks = ceil_div(g.channels, 16 * channels) * ceil_div(g.pixels, 16 * pixels) * parts;
  const double rounds = static_cast<double>(std::max<int64_t>(2, ceil_div(blocks, multiprocessors)));
  const double step = static_cast<double>(channels * pixels + 2 * (channels + pixels));
  const double sums =
      parts == 1 ? 0 : kSecondLaunch + static_cast<double>(g.channels * g.pixels * parts) / static_cast<double>(kPartsPerStep * multiprocessors);
  return rounds * static_cast<double>(g.terms / parts) * step + sums;
}

bool gemm_matches(const te::Dag& dag, const Target&) {
  const auto g = find_gemm(dag);
  return g && !depths(*g).empty();
}

ConfigSpace gemm_space(const te::Dag& dag, const Target& target) {
  const Gemm g = *find_gemm(dag);
  ConfigSpace space;
  space.define_knob("channel_threads", {4, 8, 16, 32}, "threads of a block along the output channels");
  space.define_knob("channels", {1, 2, 4, 8}, "output channels of a thread");
  space.define_knob("pixel_threads", {4, 8, 16, 32}, "threads of a block along the pixels, or rows");
  space.define_knob("pixels", {1, 2, 4, 8}, "pixels of a thread");
  space.define_knob("depth", depths(g), "terms in shared memory at a time");
  space.define_knob("parts", {1, 2, 4, 8, 16, 32}, "blocks that share a sum; a second kernel adds up their parts");
  space.define_knob("arrays", target.gpu->capability >= kCopiesAhead && g.type == kFloat32 ? std::vector<Json>{1, 2, 3, 4} : std::vector<Json>{1, 2},
                    "tiles of each operand, filled ahead");
  space.add_filter(
      [g](const ConfigEntity& e) {
        const int64_t parts = e.integer("parts");
        return parts == 1 || g.terms % (e.integer("depth") * parts) == 0;
      },
      "blocks would share a sum unevenly");
  space.add_filter([](const ConfigEntity& e) { return e.integer("channel_threads") * e.integer("pixel_threads") >= target::kWarp; },
                   "a block has less than a warp");
  add_limits(
      space, target, [g, target](const ConfigEntity& e) { return gemm_tiling(e, g, target).tiling; },
      [g, target](const ConfigEntity& e) {
        const GemmTiling t = gemm_tiling(e, g, target);
        const int64_t row = g.channels_last ? padded_row(t.pixels.span(), g.type) : t.pixels.span();
        return e.integer("arrays") * (t.channels.span() + row) * e.integer("depth") * g.type.bytes();
      });
  return space;
}

Expected<schedule::Schedule> gemm_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Gemm g = *find_gemm(*dag);
  const cpu::Anchor& a = g.anchor;
  GemmTiling t = gemm_tiling(e, g, target);
  const int64_t parts = e.integer("parts");
  schedule::Builder b(dag);
  cpu::inline_epilogue(b, a);
  const int col = b.im2col(a.reduce), filter = col + 1, product = col + 2, result = col + 3, output = a.output + 3;
  if (!b.ok()) return std::move(b).finish();
  if (result != output) b.compute_inline(result);
  // Channels as neighbours, which threads fetch in vectors.
  std::vector<schedule::LayoutStep::Piece> pieces;
  for (size_t d = 0; d < b.at(a.weight).op.output->shape.size(); ++d)
    if (d != g.weight_axis) pieces.push_back({static_cast<int>(d), 0});
  pieces.push_back({static_cast<int>(g.weight_axis), 0});
  if (g.weight_axis + 1 < pieces.size()) b.layout(a.weight, pieces);

  const std::string col_name = b.at(col).op.name, filter_name = b.at(filter).op.name, out = b.at(output).op.name;
  const auto pad = [&](int stage, size_t axis, int64_t factor) { b.pad(stage, b.loops(stage)[axis], factor); };
  const auto pad_result = [&](int stage, size_t first) {
    for (size_t k = 0; k < 2; ++k) pad(stage, first + k, t.tiling.axes[k].span());
  };
  pad(filter, 1, t.channels.span());
  pad(col, 1, t.pixels.span());
  std::string sums = b.at(product).op.name, written = out;
  if (parts > 1) {
    written = share_sum(b, product, out, parts);
    if (!b.ok()) return std::move(b).finish();
    pad_result(b.stage(written), 1);
    const int acc = b.cache_write(b.stage(written), "local");
    if (!b.ok()) return std::move(b).finish();
    sums = b.at(acc).op.name;
    t.tiling.axes.insert(t.tiling.axes.begin(), AxisTile{});
    t.tiling.directions.insert(t.tiling.directions.begin(), kZ);
  } else {
    pad_result(product, 0);
    std::vector<ir::Var> pixels = b.loops(output);
    const ir::Var channels = pixels[g.channel_axis];
    pixels.erase(pixels.begin() + static_cast<std::ptrdiff_t>(g.channel_axis));
    std::vector<ir::Var> order = pixels;
    order.insert(g.channels_last ? order.end() : order.begin(), channels);
    b.reorder(output, order);
    if (pixels.size() > 1) b.fuse(output, pixels);
  }
  tile_product(b, written, sums, {col_name, filter_name}, t.tiling);
  b.compute_inline(b.stage(col_name));
  b.compute_inline(b.stage(filter_name));
  if (a.pad >= 0) b.compute_inline(a.pad);
  return std::move(b).finish();
}

ConfigEntity gemm_fallback(const te::Dag& dag, const Target& target) {
  const Gemm g = *find_gemm(dag);
  // Few rows have a template of their own.
  if (g.terms < kLeastTerms || (g.dense && g.pixels < kLargeBatch)) return {};
  int64_t depth = 0;  // as near to the usual one as divides the terms
  for (const Json& d : depths(g))
    if (std::abs(d.get<int64_t>() - kDepth) <= std::abs(depth - kDepth)) depth = d.get<int64_t>();
  const ConfigSpace space = gemm_space(dag, target);
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
                                          {"arrays", target.gpu->capability >= kCopiesAhead && g.type == kFloat32 ? 3 : 1}});
      if (g.terms / parts < kLeastTerms || !space.filtered_reason(e).empty()) continue;
      const double cost = point_cost(g, channels, pixels, parts, target.gpu->multiprocessors);
      if (cost >= least) continue;
      least = cost;
      best = std::move(e);
    }
  return best;
}

}  // namespace

Template gemm() {
  return {"gemm.cuda",
          gemm_matches,
          gemm_space,
          gemm_apply,
          gemm_fallback,
          "Convolutions and dense layers as products of matrices on GPUs, gathered from the image tile by tile: pixels of all rows side by side, terms of all "
          "channels and taps in one sum, which several blocks may share.",
          "Chetlur et al., cuDNN, arXiv:1410.0759, 2014; NVIDIA CUTLASS 3.5, documentation of efficient GEMM (parallel split-K)"};
}

}  // namespace tw::space::cuda
