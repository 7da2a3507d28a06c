// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/conv_tensorcore.h"

#include <algorithm>

#include "engine/space/templates/cuda/tensorcore.h"

namespace tw::space::cuda {

using schedule::Builder;
using schedule::LayoutStep;

namespace {

/// Lanes of a warp hold eight rows and eight columns at once.
constexpr int64_t kLines = 8;
/// Warps that keep a multiprocessor busy.
constexpr int64_t kBusyWarps = 8;
/// Terms from which on sums are worth sharing.
constexpr int64_t kLongSum = 1024;

/// A convolution as a product of matrices.
struct ConvProduct {
  cpu::Anchor anchor;
  int64_t rows, columns, channels, taps;
  bool channels_last;
  WarpOperands operands;
  /// Images over [N, C, H, W] that lie in memory with their channels innermost, which are copied and stored in vectors then.
  bool data_turned = false, result_turned = false;
};

std::optional<ConvProduct> conv_product(const te::Dag& dag, const Target& target, std::string_view tag) {
  DType type;
  const auto a = warp_anchor(dag, target, tag, te::Role::constant, type);
  if (!a) return std::nullopt;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  if (op.axes.size() != 4 || op.reduce_axes.size() != 3) return std::nullopt;
  ConvProduct p{*a, 1, 1, 1, 1, tag == "conv2d_nhwc", {.type = type, .vector = "vector_width"}};
  const size_t out_channels = p.channels_last ? 3 : 1, in_channels = p.channels_last ? 2 : 0;
  for (size_t d = 0; d < 4; ++d) (d == out_channels ? p.columns : p.rows) *= op.axes[d].extent;
  for (size_t d = 0; d < 3; ++d) (d == in_channels ? p.channels : p.taps) *= op.reduce_axes[d].extent;
  p.data_turned = !p.channels_last && p.channels % kLines == 0;
  p.result_turned = !p.channels_last && p.columns % kLines == 0;
  p.operands.rows_inside = !p.channels_last && !p.data_turned;  // neighbours in memory are neighbours in the tile
  return p.rows >= kLines && p.columns >= kLines ? std::optional(p) : std::nullopt;
}

int64_t tiles_of(int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; }

}  // namespace

bool conv_tensorcore_matches(const te::Dag& dag, const Target& target, std::string_view tag) { return conv_product(dag, target, tag).has_value(); }

ConfigSpace conv_tensorcore_space(const te::Dag& dag, const Target& target, std::string_view tag) {
  const ConvProduct p = *conv_product(dag, target, tag);
  ConfigSpace space;
  define_warp_knobs(space, p.operands, false);
  space.add_filter(
      [p](const ConfigEntity& e) {
        const WarpTiling t = p.operands.tiling(e);
        const auto fits = [](int64_t extent, int64_t tile, int64_t unit) { return tile <= tiles_of(extent, unit) * unit; };
        return fits(p.rows, t.block_rows(), kWarpTile) && fits(p.columns, t.block_columns(), kWarpTile) && fits(p.channels, t.depth, p.operands.step());
      },
      "a tile is larger than the matrix");
  add_warp_filters(space, target, p.operands);
  return space;
}

Expected<schedule::Schedule> conv_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e, std::string_view tag) {
  const ConvProduct p = *conv_product(*dag, target, tag);
  const cpu::Anchor& a = p.anchor;
  const WarpTiling t = p.operands.tiling(e);
  const auto name_of = [&](int op) { return dag->ops[static_cast<size_t>(op)].name; };
  Builder b(dag);
  cpu::inline_epilogue(b, a);
  const std::vector<LayoutStep::Piece> innermost{{0, 0}, {2, 0}, {3, 0}, {1, 0}};
  if (p.data_turned) b.layout(b.stage(name_of(a.data)), innermost);
  if (p.result_turned) cpu::layout_epilogue(b, *dag, a, innermost);
  // Terms of a tap as neighbours, which threads copy in vectors.
  if (p.taps > 1 || p.channels_last)
    b.layout(b.stage(name_of(a.weight)),
             p.channels_last ? std::vector<LayoutStep::Piece>{{0, 0}, {1, 0}, {3, 0}, {2, 0}} : std::vector<LayoutStep::Piece>{{2, 0}, {3, 0}, {0, 0}, {1, 0}});
  const int conv = b.stage(name_of(a.reduce));
  const int first = b.im2col(conv, b.loops(conv)[p.channels_last ? 6 : 4], t.block_rows(), t.block_columns(), t.depth);
  if (!b.ok()) return std::move(b).finish();
  const std::string pixels_name = b.at(first).op.name, filters_name = b.at(first + 1).op.name, product_name = b.at(first + 2).op.name;
  if (a.pad >= 0) b.compute_inline(b.stage(name_of(a.pad)));
  const int sums_at_first = b.cache_write(b.stage(product_name), "local");
  if (!b.ok()) return std::move(b).finish();
  const std::string sums_name = b.at(sums_at_first).op.name;
  b.compute_inline(b.stage(product_name));
  if (a.output != a.reduce) b.compute_inline(b.stage(name_of(a.reduce)));

  const int out = b.stage(name_of(a.output)), sums = b.stage(sums_name);
  const std::vector<ir::Var> o = b.loops(out);
  std::vector<ir::Var> pixels = o;
  pixels.erase(pixels.begin() + (p.channels_last ? 3 : 1));
  const ir::Var channels = o[p.channels_last ? 3 : 1];
  std::vector<ir::Var> order = pixels;
  order.push_back(channels);
  b.reorder(out, order);
  const WarpResult result{.rows = b.fuse(out, pixels), .columns = channels, .rows_along_x = true, .pairs = p.channels_last || p.result_turned};
  b.compute_at(sums, out, share_among_warps(b, out, result, t));

  // Terms with the taps outside and the channels inside; the product has its axes in the order of the result.
  const auto terms_from = [&](int stage, std::ptrdiff_t at) {
    const std::vector<ir::Var> l = b.loops(stage);
    std::vector<ir::Var> terms(l.begin() + at, l.begin() + at + 3);
    if (!p.channels_last) std::rotate(terms.begin(), terms.begin() + 1, terms.end());
    return terms;
  };
  const std::vector<ir::Var> taps = terms_from(sums, 2), lines = b.loops(sums);
  const size_t row = p.channels_last ? 0 : 1;
  const ir::Var step = multiply_by_warps(b, sums, {taps[0], taps[1]}, {lines[row], lines[1 - row]}, taps[2], p.operands, t);
  const int arrays = p.operands.arrays(t, target);
  for (const std::string& name : {pixels_name, filters_name}) {
    const int tile = b.stage(name);
    std::vector<ir::Var> walk = terms_from(tile, 0);
    const bool gathered = name == pixels_name && p.operands.rows_inside;
    walk.insert(gathered ? walk.end() : walk.begin() + 2, b.loops(tile).back());
    std::vector<LayoutStep::Piece> pieces;
    for (const ir::Var& v : walk) {
      const std::vector<te::Axis>& axes = b.at(tile).op.axes;
      const auto axis = std::find_if(axes.begin(), axes.end(), [&](const te::Axis& x) { return x.var.same_as(v); });
      pieces.push_back({static_cast<int>(axis - axes.begin()), 0});
    }
    b.layout(tile, pieces);
    // Neighbouring threads take neighbouring pixels, which may lie apart in memory.
    copy_by_block(b, tile, walk, sums, step, p.operands, t, gathered ? 1 : t.vector, arrays);
  }
  return std::move(b).finish();
}

ConfigEntity conv_tensorcore_fallback(const te::Dag& dag, const Target& target, std::string_view tag) {
  const ConvProduct p = *conv_product(dag, target, tag);
  // Of few places and long sums there is little for warps to share out: templates whose blocks share a sum serve better.
  const int64_t warps = tiles_of(p.rows, kWarpTile) * tiles_of(p.columns, kWarpTile);
  // In float32 these copy ahead as well, so that warps must be many; few channels leave most of a tile empty.
  if (p.operands.type == kFloat32 && (p.channels < kWarpTile || warps < kBusyWarps * target.gpu->multiprocessors)) return {};
  if (p.operands.type.is_float() && warps < 2 * target.gpu->multiprocessors && p.channels * p.taps >= kLongSum) return {};
  const ConfigSpace space = conv_tensorcore_space(dag, target, tag);
  ConfigEntity best;
  double least = 0;
  for (const std::array<int, 4>& shape : kWarpShapes) {
    auto found = point_of_shape(space, target, p.operands, shape);
    if (!found) continue;
    const WarpTiling t = p.operands.tiling(*found);
    const int64_t blocks = tiles_of(p.rows, t.block_rows()) * tiles_of(p.columns, t.block_columns());
    // A tile of a warp reads its operands as often as it has rows and columns of tiles.
    const double each = static_cast<double>(t.block_rows() * t.block_columns()) *
                        (1 + static_cast<double>(kWarpTile) / static_cast<double>(t.rows) + static_cast<double>(kWarpTile) / static_cast<double>(t.columns));
    const double work = static_cast<double>(tiles_of(blocks, target.gpu->multiprocessors)) * each;
    if (best.index() >= 0 && work >= least) continue;
    least = work;
    best = std::move(*found);
  }
  return best;
}

}  // namespace tw::space::cuda
