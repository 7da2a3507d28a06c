// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "engine/space/sketch/rules/rules.h"
#include "engine/space/templates/cuda/tensorcore.h"
#include "engine/target/gpu.h"

namespace tw::space {

namespace {

using schedule::Annotation;
using schedule::SplitStep;

/// Bytes that a thread copies at once, and by which rows of a tile in shared memory are moved against each other, within twice as many.
constexpr int64_t kCopyBytes = 16;
/// Tiles of an operand that are filled in turn.
constexpr int kArrays[] = {2, 3, 4};

/// A product of matrices whose extents are whole tiles of a warp, which nothing has been done to yet.
std::optional<cpu::Anchor> warp_product_of(const SketchState& s) {
  const te::Dag& dag = *s.schedule().dag();
  if (const auto a = cuda::tensorcore_anchor(dag, s.target(), "dense", te::Role::constant)) return a;
  for (const char* tag : {"batch_matmul", "matmul"})
    if (const auto a = cuda::tensorcore_anchor(dag, s.target(), tag, te::Role::activation)) return a;
  return std::nullopt;
}

/// A convolution over images whose channels are whole tiles of a warp, in and out; places are rounded up to them.
struct WarpConv {
  cpu::Anchor anchor;
  DType type;
  bool channels_last;
  int64_t places, taps;
};
std::optional<WarpConv> warp_conv_of(const SketchState& s) {
  const te::Dag& dag = *s.schedule().dag();
  for (const bool last : {false, true}) {
    DType type;
    const auto a = cuda::warp_anchor(dag, s.target(), last ? "conv2d_nhwc" : "conv2d", te::Role::constant, type);
    if (!a) continue;
    const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
    if (op.axes.size() != 4 || op.reduce_axes.size() != 3) return std::nullopt;
    WarpConv c{*a, type, last, 1, 1};
    const size_t out = last ? 3 : 1, in = last ? 2 : 0;
    for (size_t d = 0; d < 4; ++d) c.places *= d == out ? 1 : op.axes[d].extent;
    for (size_t d = 0; d < 3; ++d) c.taps *= d == in ? 1 : op.reduce_axes[d].extent;
    const bool tiles = op.axes[out].extent % cuda::kWarpTile == 0 && op.reduce_axes[in].extent % cuda::kWarpTile == 0;
    return tiles && c.places >= cuda::kWarpTile ? std::optional(c) : std::nullopt;
  }
  return std::nullopt;
}

/// Places of a convolution rounded up: to as many as let blocks have many shapes, if that is little surplus.
int64_t rounded_places(int64_t places) {
  const auto rounded = [&](int64_t unit) { return (places + unit - 1) / unit * unit; };
  for (const int64_t unit : {8 * cuda::kWarpTile, 4 * cuda::kWarpTile, 2 * cuda::kWarpTile})
    if (8 * rounded(unit) <= 9 * places) return rounded(unit);
  return rounded(cuda::kWarpTile);
}

RuleFit fits_tensor_cores(const SketchState& s, int stage) {
  const bool pays = !s.options().exact && s.steps() == 0 && s.is_output(stage) && (warp_product_of(s) || warp_conv_of(s));
  return pays ? RuleFit::apply : RuleFit::skip;
}

/// Cuts a loop into an outer part and inner ones of these lengths, which are what the instruction asks for, and none of a search's.
void cut(SketchState& s, int stage, int iter, std::vector<int64_t> inner) {
  int64_t product = 1;
  for (const int64_t l : inner) product *= l;
  const int64_t extent = s.stage(stage).iters[static_cast<size_t>(iter)].extent;
  inner.pop_back();
  inner.insert(inner.begin(), extent / product);
  s.apply(SplitStep{stage, iter, extent, inner, false});
}

struct Warps {
  int rows, columns;  ///< splits: blocks, warps of a block, tiles of a warp
};

/// Loops of the result, of which the last two are rows and columns: blocks, warps, tiles, lanes. `rows`: what they are rounded up to. Returns the loop that the sums
/// are computed in.
int share_result(SketchState& s, int out, int64_t rows, Warps& splits) {
  const int b = static_cast<int>(s.stage(out).iters.size()) - 2;
  if (const int64_t extent = s.stage(out).iters[static_cast<size_t>(b)].extent; extent == rows)
    cut(s, out, b, {cuda::kWarpTile});
  else
    s.apply(SplitStep{out, b, extent, {cuda::kWarpTile}});
  splits.rows = s.open_split(out, b, 3, rows / cuda::kWarpTile);
  cut(s, out, b + 3, {8});
  cut(s, out, b + 5, {cuda::kWarpTile});
  splits.columns = s.open_split(out, b + 5, 3);
  cut(s, out, b + 8, {4, 2});
  schedule::ReorderStep order{out, {}};
  for (int k = 0; k < b; ++k) order.order.push_back(k);
  for (const int k : {0, 5, 1, 6, 2, 3, 7, 8, 4, 9, 10}) order.order.push_back(b + k);
  s.apply(order);
  s.apply(schedule::AnnotationStep{out, b + 2, Annotation::thread_z});
  s.apply(schedule::AnnotationStep{out, b + 3, Annotation::thread_y});
  s.apply(schedule::FuseStep{out, {b + 8, b + 9}});
  s.apply(schedule::AnnotationStep{out, b + 8, Annotation::thread_x});
  s.apply(schedule::AnnotationStep{out, b + 9, Annotation::vectorize});
  return b + 3;
}

/// Sums over tiles of terms, each by tensor cores; of a convolution tap by tap.
void multiply_taps(SketchState& s, int sums, bool channels_last, int64_t step) {
  const int term = channels_last ? 4 : 2;
  cut(s, sums, term, {step});
  s.open_split(sums, term, 2);
  s.apply(channels_last ? schedule::ReorderStep{sums, {2, 3, 4, 5, 0, 1, 6}} : schedule::ReorderStep{sums, {5, 6, 2, 3, 1, 0, 4}});
  s.apply(schedule::FuseStep{sums, {0, 1, 2}});
  s.apply(schedule::AnnotationStep{sums, 1, Annotation::unroll});
  s.apply(schedule::TensorizeStep{sums, 2});
}
void multiply(SketchState& s, int sums, int64_t step) {
  const int b = static_cast<int>(s.stage(sums).iters.size()) - 3;
  cut(s, sums, b + 2, {step});
  s.open_split(sums, b + 2, 2);
  schedule::ReorderStep order{sums, {b + 2, b + 3}};
  for (int k = 0; k < b + 2; ++k) order.order.push_back(k);
  order.order.push_back(b + 4);
  s.apply(order);
  s.apply(schedule::AnnotationStep{sums, 1, Annotation::unroll});
  s.apply(schedule::TensorizeStep{sums, b + 2});
}

/// An operand's tile, copied ahead by all threads of the block, with its loops in this order.
void copy_ahead(SketchState& s, int tile, const std::vector<int>& order, int sums, const Warps& splits, int arrays) {
  const int64_t bytes = s.stage(tile).op.output->dtype.bytes(), vector = kCopyBytes / bytes;
  const int rank = static_cast<int>(s.stage(tile).iters.size());
  s.apply(schedule::StorageAlignStep{tile, order[order.size() - 2], 2 * vector, vector});
  s.apply(schedule::ComputeAtStep{tile, sums, 0});
  if (!std::is_sorted(order.begin(), order.end())) s.apply(schedule::ReorderStep{tile, order});
  schedule::FuseStep fuse{tile, {}};
  for (int k = 0; k < rank; ++k) fuse.iters.push_back(k);
  s.apply(fuse);
  cut(s, tile, 0, {target::kWarp, vector});
  s.apply(schedule::FollowFusedSplitStep{tile, 0, {splits.columns}, 0});
  s.apply(schedule::FollowFusedSplitStep{tile, 0, {splits.rows}, 0});
  s.apply(schedule::AnnotationStep{tile, 1, Annotation::thread_z});
  s.apply(schedule::AnnotationStep{tile, 2, Annotation::thread_y});
  s.apply(schedule::AnnotationStep{tile, 3, Annotation::thread_x});
  s.apply(schedule::AnnotationStep{tile, 4, Annotation::vectorize});
  s.apply(schedule::PipelineStep{tile, arrays});
}

/// A sketch under way, with the ops of its definition by their names.
struct Underway {
  SketchState s;
  int at(int op) const { return s.schedule().find(s.schedule().dag()->ops[static_cast<size_t>(op)].name); }
  int find(const std::string& name) const { return s.schedule().find(name); }
  /// What follows the sums disappears into the result.
  void inline_epilogue(const cpu::Anchor& a) {
    const te::Dag& dag = *s.schedule().dag();
    for (int i = a.reduce + 1; i < static_cast<int>(dag.ops.size()); ++i)
      if (!dag.ops[static_cast<size_t>(i)].is_placeholder() && i != a.output) s.apply(schedule::ComputeInlineStep{at(i)});
  }
};

SketchState product_by_warps(const SketchState& start, const cpu::Anchor& a, int arrays) {
  Underway u{start};
  const te::Dag& dag = *start.schedule().dag();
  u.inline_epilogue(a);
  std::vector<std::string> tiles;
  for (const int operand : {a.data, a.weight}) {
    const int tile = u.at(operand) + 1;
    u.s.apply(schedule::CacheReadStep{u.at(operand), "shared", {u.at(a.reduce)}});
    tiles.push_back(u.s.stage(tile).op.name);
  }
  const int sums = u.at(a.reduce);
  u.s.apply(schedule::CacheWriteStep{sums, "local"});
  if (a.output != a.reduce) u.s.apply(schedule::ComputeInlineStep{u.at(a.reduce)});
  Warps splits;
  const int result = u.at(a.output);
  const std::vector<schedule::Iter>& loops = u.s.stage(result).iters;
  const int place = share_result(u.s, result, loops[loops.size() - 2].extent, splits);
  u.s.apply(schedule::ComputeAtStep{sums, result, place});
  multiply(u.s, sums, cuda::WarpOperands{.type = dag.ops[static_cast<size_t>(a.data)].output->dtype}.step());
  for (const std::string& tile : tiles) {
    std::vector<int> order(u.s.stage(u.find(tile)).iters.size());
    std::iota(order.begin(), order.end(), 0);
    copy_ahead(u.s, u.find(tile), order, sums, splits, arrays);
  }
  return std::move(u.s);
}

SketchState conv_by_warps(const SketchState& start, const WarpConv& c, int arrays) {
  Underway u{start};
  const cpu::Anchor& a = c.anchor;
  const te::Dag& dag = *start.schedule().dag();
  u.inline_epilogue(a);
  const auto lay_out = [&](int op, std::initializer_list<int> dims) {
    schedule::LayoutStep layout{u.at(op), {}};
    for (const int d : dims) layout.pieces.push_back({d, 0});
    u.s.apply(layout);
  };
  if (!c.channels_last) {
    // Channels innermost, which threads copy and store in vectors: of the images, and of what is added to the result.
    const std::vector<int64_t>& shape = dag.ops[static_cast<size_t>(a.reduce)].output->shape;
    for (int i = 0; i < static_cast<int>(dag.ops.size()); ++i) {
      const te::Op& op = dag.ops[static_cast<size_t>(i)];
      const bool added = op.is_placeholder() && op.role == te::Role::activation && op.output->shape == shape;
      if (i == a.data || i == a.output || added) lay_out(i, {0, 2, 3, 1});
    }
  }
  // Terms of a tap as neighbours.
  if (c.channels_last)
    lay_out(a.weight, {0, 1, 3, 2});
  else if (c.taps > 1)
    lay_out(a.weight, {2, 3, 0, 1});
  const int64_t step = cuda::WarpOperands{.type = c.type}.step(), places = rounded_places(c.places);
  const int conv = u.at(a.reduce);
  u.s.apply(schedule::Im2colStep{conv, c.channels_last ? 6 : 4, places, cuda::kWarpTile, step});
  std::vector<std::string> names;  // pixels, filters, product
  for (int k = 0; k < 3; ++k) names.push_back(u.s.stage(conv + k).op.name);
  if (a.pad >= 0) u.s.apply(schedule::ComputeInlineStep{u.at(a.pad)});
  const int sums = u.find(names[2]);
  u.s.apply(schedule::CacheWriteStep{sums, "local"});
  u.s.apply(schedule::ComputeInlineStep{u.find(names[2])});
  if (a.output != a.reduce) u.s.apply(schedule::ComputeInlineStep{u.at(a.reduce)});
  Warps splits;
  const int result = u.at(a.output);
  if (!c.channels_last) u.s.apply(schedule::ReorderStep{result, {0, 2, 3, 1}});
  u.s.apply(schedule::FuseStep{result, {0, 1, 2}});
  u.s.apply(schedule::ComputeAtStep{sums, result, share_result(u.s, result, places, splits)});
  multiply_taps(u.s, sums, c.channels_last, step);
  names.pop_back();
  for (const std::string& name : names) {
    const int tile = u.find(name);
    const std::vector<int> order = c.channels_last ? std::vector<int>{0, 1, 3, 2} : std::vector<int>{1, 2, 3, 0};  // taps, lines, channels
    schedule::LayoutStep layout{tile, {}};
    for (const int d : order) layout.pieces.push_back({d, 0});
    u.s.apply(layout);
    copy_ahead(u.s, tile, order, sums, splits, arrays);
  }
  return std::move(u.s);
}

Derived multiply_by_tensor_cores(const SketchState& s, int) {
  const auto product = warp_product_of(s);
  Derived out;
  for (const int arrays : kArrays) {
    out.emplace_back(product ? product_by_warps(s, *product, arrays) : conv_by_warps(s, *warp_conv_of(s), arrays), -1);
    out.back().first.keep_whole();
  }
  return out;
}

}  // namespace

SketchRule tensor_cores_rule() {
  return {"tensor-cores", false, true, fits_tensor_cores, multiply_by_tensor_cores,
          "Computes a product of matrices, or a convolution as one, by the tensor cores of warps, from tiles in shared memory that are copied two to four ahead."};
}

}  // namespace tw::space
