// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/winograd_conv.h"

#include <algorithm>

#include "engine/space/rules/rules.h"

namespace tw::space::cpu {

namespace {

/// Each value of the image and of the result passes through the transforms once, however few products it takes part in. From 8 channels on either side on Winograd's was measured to be faster at 28x28 (Intel, AVX-512; AMD Zen 4); fewer fill hardly a
/// vector and are left to direct convolution.
constexpr int64_t kFewChannels = 8;
/// Operations that one core does while a byte of weights arrives from memory, roughly.
constexpr double kOpsPerByte = 8;

/// Relative time of a convolution whose weights come from memory, as in a network larger than the caches, in operations for each pair of input and output
/// channels: computing or waiting for weights. m = 1 stands for direct convolution.
double network_cost(const WinogradConv& s, int64_t m) {
  const auto points = static_cast<double>(s.points(m)), tiles = static_cast<double>(s.batch * s.planes * s.rows(m) * s.columns(m));
  return std::max(2 * points * tiles, kOpsPerByte * 4 * points);
}

/// Tiles in a block for a register tile to pass over the weights a few times only.
constexpr int64_t kEnoughTiles = 12;

/// Whether blocks of an image should pass through all stages by themselves. That keeps what lies between the stages in the level-2 cache where the whole batch's
/// does not fit, and would go out and come back, but every block reads the weights again: from beyond the cache, unless they fit beside a block.
bool blocks_pay(const WinogradConv& s, int64_t m, const Target& target) {
  const int64_t row = s.row_bytes(m), between = s.batch * s.rows(m) * row, weights = s.weight_bytes(m), height = blocks_for(kEnoughTiles, s.columns(m) * s.planes);
  if (between <= target.l2_bytes || weights > target.l2_bytes || row > target.l2_bytes) return false;
  return weights + height * row <= target.l2_bytes || s.batch * blocks_for(s.rows(m), height) * weights < 2 * between;
}

/// Whether an attribute of a convolution is 1 along both dimensions of a plane.
bool unit_steps(const te::Op& op, const char* attr) {
  const auto it = op.attrs.find(attr);
  return it != op.attrs.end() && it->second.size() >= 2 && std::all_of(it->second.end() - 2, it->second.end(), [](int64_t v) { return v == 1; });
}

}  // namespace

std::optional<WinogradConv> find_winograd_conv(const te::Dag& dag, const Target& target, std::string_view tag) {
  const auto a = find_anchor(dag, tag);
  if (!a) return std::nullopt;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  const std::vector<int64_t>& out = op.output->shape;
  const size_t rank = out.size();
  if (op.reduce_axes.size() + 1 != rank || op.reduce_axes[rank - 2].extent != WinogradConv::kTaps || op.reduce_axes[rank - 3].extent != WinogradConv::kTaps) return std::nullopt;
  if (!unit_steps(op, "strides") || !unit_steps(op, "dilations")) return std::nullopt;
  const te::Op& read = dag.ops[static_cast<size_t>(a->pad >= 0 ? a->pad : a->data)];
  const int64_t ic = op.reduce_axes[0].extent;
  WinogradConv c{*a, rank, out[0], ic, out[1], out[rank - 2], out[rank - 1], 1, 1, 1, channel_block(ic, target), channel_block(out[1], target)};
  for (size_t d = 2; d + 2 < rank; ++d) {
    c.planes *= out[d];
    c.planes_in *= read.output->shape[d];
    c.plane_taps *= op.reduce_axes[d - 1].extent;
  }
  return c.ic_block > 1 && c.oc_block > 1 ? std::optional(c) : std::nullopt;
}

ConfigSpace winograd_conv_space(const WinogradConv& s, const Target& target) {
  ConfigSpace space;
  space.define_knob("tile_size", {2, 4}, "side of a tile of the result: 4 saves more multiplications than 2 and rounds less exactly");
  space.define_knob("block_rows", up_to({0, 1, 2, 3, 4, 7}, s.rows(2) - 1),
                    "rows of tiles that pass through all stages before the next ones do; 0: each stage over the whole image, in parallel by itself");
  space.define_knob("tile_th", up_to({1, 2, 4}, s.rows(2)), "rows of tiles in the register tile of the products");
  space.define_knob("tile_tw", up_to({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14}, s.columns(2)), "columns of tiles in the register tile of the products");
  space.define_knob("oc_blocks", panel_widths({1, 2, 3, 4, 5, 6}, blocks_for(s.oc, s.oc_block)), "blocks of output channels of the register tile");
  space.add_filter([target](const ConfigEntity& e) { return fits_registers(e.integer("tile_th") * e.integer("tile_tw"), e.integer("oc_blocks"), target); },
                   "the register tile does not fit the vector registers");
  space.add_filter(
      [s](const ConfigEntity& e) {
        const int64_t m = e.integer("tile_size"), block = e.integer("block_rows");
        const int64_t rows = block ? block : s.rows(m), th = e.integer("tile_th");
        return block < s.rows(m) && th <= rows && (block == 0 || block % th == 0) && e.integer("tile_tw") <= s.columns(m);
      },
      "the register tile is no part of the block");
  return space;
}

ConfigEntity winograd_conv_fallback(const WinogradConv& s, const Target& target) {
  if (s.ic < kFewChannels || s.oc < kFewChannels || s.oh < 7 || s.ow < 7) return {};
  // Larger tiles save more multiplications, but have more weights: small images wait for those.
  const int64_t m = network_cost(s, 4) <= network_cost(s, 2) ? 4 : 2;
  if (network_cost(s, m) >= network_cost(s, 1)) return {};
  const bool blocks = blocks_pay(s, m, target);
  const int64_t columns = s.columns(m);
  return winograd_conv_space(s, target).best_by([&](const ConfigEntity& e) {
    const int64_t block = e.integer("block_rows"), th = e.integer("tile_th"), tw = e.integer("tile_tw"), v = e.integer("oc_blocks");
    const int64_t height = block ? block : s.rows(m);
    const double tile = tile_rate(th * tw, v, target) * filled(height, th) * filled(columns, tw) * filled(blocks_for(s.oc, s.oc_block), v);
    const double tasks = block ? balanced(s.batch * ((s.rows(m) + block - 1) / block), target) * filled(s.rows(m), block) : 1;
    const bool enough = block == 0 || block * columns * s.planes >= kEnoughTiles;
    return tile * tasks + (e.integer("tile_size") == m ? 4 : 0) + ((block != 0) == blocks ? 2 : 0) + (enough ? 1 : 0) - 0.01 * static_cast<double>(block);
  });
}

Expected<schedule::Schedule> winograd_conv_apply(const te::DagPtr& dag, const WinogradConv& s, const Target& target, const ConfigEntity& e) {
  const Anchor& a = s.anchor;
  const int64_t m = e.integer("tile_size"), block = e.integer("block_rows"), vectors = e.integer("oc_blocks");
  const size_t spatial = s.rank - 2;
  schedule::Builder b(dag);
  if (s.ic_block > 1) b.layout(a.data, nchwc(s.ic_block, spatial));
  layout_epilogue(b, *dag, a, nchwc(s.oc_block, spatial));
  if (a.pad >= 0) b.compute_inline(a.pad);
  const int pad = b.winograd(a.reduce, m), rows = pad + 1, data = pad + 2;
  const auto last = static_cast<int>(s.rank) - 1;
  std::vector<schedule::LayoutStep::Piece> packed{{last - 1, 0}, {last, 0}, {0, 0}};  // [x][y][O / columns][plane taps][I][columns]
  for (int d = 2; d + 1 < last; ++d) packed.push_back({d, 0});
  packed.insert(packed.end(), {{1, 0}, {0, vectors * s.oc_block}});
  b.layout(a.weight, packed);
  const int acc = b.cache_write(pad + 3), product = acc + 1, columns = acc + 2, out = a.output + 6;
  inline_epilogue(b, {.reduce = columns, .output = out});
  const bool fits = a.pad < 0 && s.oh % m == 0 && s.ow % m == 0;
  if (fits)
    b.compute_inline(pad);
  else
    schedule_padding(b, pad, s.ic_block, target);

  using Loops = std::vector<ir::Var>;
  const size_t deep = spatial - 2;  // loops over planes, which stand between channels and tiles
  const auto planes = [deep](const Loops& l, size_t first) {
    return Loops(l.begin() + static_cast<std::ptrdiff_t>(first), l.begin() + static_cast<std::ptrdiff_t>(first + deep));
  };
  const auto joined = [](std::initializer_list<Loops> lists) {
    Loops all;
    for (const Loops& l : lists) all.insert(all.end(), l.begin(), l.end());
    return all;
  };

  const auto axes = b.loops(out);  // n, o, planes, h, w
  const auto c = b.split(out, axes[1], {s.oc_block});
  const auto w = b.split(out, axes.back(), {m});
  const ir::Var& high = axes[axes.size() - 2];
  const Loops d_out = planes(axes, 2);
  Loops outer, h;
  if (block) {
    h = b.split(out, high, {block, m});
    outer = {axes[0], h[0]};
    b.reorder(out, joined({outer, {c[0]}, d_out, {h[1], w[0], h[2], w[1], c[1]}}));
  } else {
    h = b.split(out, high, {m});
    outer = joined({{axes[0], c[0]}, d_out, {h[0]}});
    b.reorder(out, joined({outer, {w[0], h[1], w[1], c[1]}}));
  }
  const ir::Var task = b.fuse(out, outer);
  b.unroll(out, h.back());
  b.unroll(out, w[1]);
  b.vectorize(out, c[1]);
  b.parallel(out, task);

  const auto z = b.loops(columns);  // n, o, planes, th, tw, h, y
  rules::whole_blocks(b, columns, 1, s.oc_block);
  b.compute_at(columns, out, w[0]);
  b.reorder(columns, joined({{z[0]}, Loops(z.begin() + 2, z.end()), {z[1]}}));
  b.unroll(columns, z[z.size() - 2]);
  b.unroll(columns, z.back());
  b.vectorize(columns, z[1]);

  const auto in_blocks = [&](int stage, int64_t length) {  // [x][y][n][channels / length][planes...][th][tw][length]
    std::vector<schedule::LayoutStep::Piece> pieces;
    for (int d = 0; d < static_cast<int>(s.rank) + 2; ++d) pieces.push_back({d, 0});
    pieces.push_back({3, length});
    b.layout(stage, pieces);
  };
  const size_t grid = 4 + deep;  // x, y, n and channels stand before the planes
  const auto p = b.loops(product);  // x, y, n, o, planes, th, tw
  rules::whole_blocks(b, product, 3, s.oc_block);
  in_blocks(product, s.oc_block);
  const auto o = b.split(product, p[3], {vectors, s.oc_block});
  const auto th = b.split(product, p[grid], {e.integer("tile_th")});
  const auto tw = b.split(product, p[grid + 1], {e.integer("tile_tw")});
  b.reorder(product, joined({{p[0], p[1], o[0], p[2]}, planes(p, 4), {th[0], tw[0], th[1], tw[1], o[1], o[2]}}));
  b.compute_at(acc, product, tw[0]);
  b.unroll(product, th[1]);
  b.unroll(product, tw[1]);
  b.unroll(product, o[1]);
  b.vectorize(product, o[2]);

  const auto r = b.loops(acc);  // x, y, n, o, planes, th, tw, i, plane taps
  rules::whole_blocks(b, acc, 3, vectors * s.oc_block);
  const auto lanes = b.split(acc, r[3], {s.oc_block});
  const auto i = b.split(acc, r[grid + 2], {s.ic_block});
  b.reorder(acc, joined({{r[0], r[1], r[2]}, planes(r, 4), planes(r, grid + 3), {i[0], i[1], r[grid], r[grid + 1], lanes[0], lanes[1]}}));
  b.unroll(acc, r[grid]);
  b.unroll(acc, r[grid + 1]);
  b.unroll(acc, lanes[0]);
  b.vectorize(acc, lanes[1]);

  const auto d = b.loops(data);  // x, y, n, i, planes, th, tw
  rules::whole_blocks(b, data, 3, s.ic_block);
  in_blocks(data, s.ic_block);
  const auto channels = b.split(data, d[3], {s.ic_block});
  const Loops walk = joined({{d[2], channels[0]}, planes(d, 4), {d[grid]}});
  b.reorder(data, joined({walk, {d[grid + 1], d[0], d[1], channels[1]}}));
  b.unroll(data, d[0]);
  b.unroll(data, d[1]);
  b.vectorize(data, channels[1]);

  const auto t = b.loops(rows);  // n, i, planes, th, tw, x, j
  rules::whole_blocks(b, rows, 1, s.ic_block);
  b.compute_at(rows, data, d[grid + 1]);
  b.reorder(rows, joined({{t[0]}, Loops(t.begin() + 2, t.end()), {t[1]}}));
  b.unroll(rows, t[t.size() - 2]);
  b.unroll(rows, t.back());
  b.vectorize(rows, t[1]);

  if (block) {
    b.compute_at(product, out, task);
    b.compute_at(data, out, task);
  } else {
    b.parallel(product, b.fuse(product, {p[0], p[1], o[0]}));
    b.parallel(data, b.fuse(data, walk));
  }
  return std::move(b).finish();
}

}  // namespace tw::space::cpu
