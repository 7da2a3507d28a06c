// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>

#include "engine/space/rules/rules.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cpu {

namespace {

constexpr int64_t kTaps = 3;

struct WinogradShape {
  int64_t batch, ic, oc, oh, ow, ic_block, oc_block;
  int64_t rows(int64_t m) const { return (oh + m - 1) / m; }
  int64_t columns(int64_t m) const { return (ow + m - 1) / m; }
  /// Bytes of the transformed weights.
  int64_t weight_bytes(int64_t m) const { return (m + kTaps - 1) * (m + kTaps - 1) * ic * oc * 4; }
};

WinogradShape winograd_shape(const te::Dag& dag, const Anchor& a, const Target& target) {
  const std::vector<int64_t>& out = dag.ops[static_cast<size_t>(a.reduce)].output->shape;
  const int64_t ic = dag.ops[static_cast<size_t>(a.weight)].output->shape[1];
  return {out[0], ic, out[1], out[2], out[3], channel_block(ic, target), channel_block(out[1], target)};
}

/// Operations that one core does while a byte of weights arrives from memory, roughly.
constexpr double kOpsPerByte = 8;

/// Relative time of a convolution whose weights come from memory, as in a network larger than the caches, in operations for each pair of input and output
/// channels: computing or waiting for weights. m = 1 stands for direct convolution.
double network_cost(const WinogradShape& s, int64_t m) {
  const auto points = static_cast<double>((m + kTaps - 1) * (m + kTaps - 1)), tiles = static_cast<double>(s.batch * s.rows(m) * s.columns(m));
  return std::max(2 * points * tiles, kOpsPerByte * 4 * points);
}

bool all_ones(const te::Op& op, const char* attr) {
  const auto it = op.attrs.find(attr);
  return it != op.attrs.end() && std::all_of(it->second.begin(), it->second.end(), [](int64_t v) { return v == 1; });
}

bool conv2d_winograd_matches(const te::Dag& dag, const Target& target) {
  const auto a = find_anchor(dag, "conv2d");
  if (!a) return false;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  const WinogradShape s = winograd_shape(dag, *a, target);
  const bool window = op.reduce_axes.size() == 3 && op.reduce_axes[1].extent == kTaps && op.reduce_axes[2].extent == kTaps;
  return window && all_ones(op, "strides") && all_ones(op, "dilations") && s.ic_block > 1 && s.oc_block > 1;
}

ConfigSpace conv2d_winograd_space(const te::Dag& dag, const Target& target) {
  const WinogradShape s = winograd_shape(dag, *find_anchor(dag, "conv2d"), target);
  ConfigSpace space;
  space.define_knob("tile_size", {2, 4}, "side of a tile of the result: 4 saves more multiplications than 2 and rounds less exactly");
  space.define_knob("block_rows", up_to({0, 1, 2, 3, 4, 7}, s.rows(2) - 1),
                    "rows of tiles that pass through all stages before the next ones do; 0: each stage over the whole image, in parallel by itself");
  space.define_knob("tile_th", up_to({1, 2, 4}, s.rows(2)), "rows of tiles in the register tile of the products");
  space.define_knob("tile_tw", up_to({1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14}, s.columns(2)), "columns of tiles in the register tile of the products");
  space.define_knob("oc_blocks", dividing({1, 2, 3, 4, 6}, blocks_for(s.oc, s.oc_block)), "blocks of output channels of the register tile");
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

ConfigEntity conv2d_winograd_fallback(const te::Dag& dag, const Target& target) {
  const WinogradShape s = winograd_shape(dag, *find_anchor(dag, "conv2d"), target);
  // Transforms are a small part of the work only where each value takes part in many sums.
  if (s.ic < 32 || s.oc < 32 || s.oh < 7 || s.ow < 7) return {};
  // Larger tiles save more multiplications, but have more weights: small images wait for those.
  const int64_t m = network_cost(s, 4) <= network_cost(s, 2) ? 4 : 2;
  if (network_cost(s, m) >= network_cost(s, 1)) return {};
  // Blocks of the image keep what lies between the stages in the level-2 cache, if the weights that every block reads again are there too.
  const bool blocks = s.weight_bytes(m) <= target.l2_bytes;
  const int64_t columns = s.columns(m);
  return conv2d_winograd_space(dag, target).best_by([&](const ConfigEntity& e) {
    const int64_t block = e.integer("block_rows"), th = e.integer("tile_th"), tw = e.integer("tile_tw"), v = e.integer("oc_blocks");
    const int64_t height = block ? block : s.rows(m);
    const double tile = tile_rate(th * tw, v) * filled(height, th) * filled(columns, tw);
    const double tasks = block ? balanced(s.batch * ((s.rows(m) + block - 1) / block), target) * filled(s.rows(m), block) : 1;
    // Enough tiles in a block for a register tile to pass over the weights a few times only.
    const bool enough = block == 0 || block * columns >= 12;
    return tile * tasks + (e.integer("tile_size") == m ? 4 : 0) + ((block != 0) == blocks ? 2 : 0) + (enough ? 1 : 0) - 0.01 * static_cast<double>(block);
  });
}

Expected<schedule::Schedule> conv2d_winograd_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Anchor a = *find_anchor(*dag, "conv2d");
  const WinogradShape s = winograd_shape(*dag, a, target);
  const int64_t m = e.integer("tile_size"), block = e.integer("block_rows"), vectors = e.integer("oc_blocks");
  schedule::Builder b(dag);
  if (s.ic_block > 1) b.layout(a.data, nchwc(s.ic_block));
  layout_epilogue(b, *dag, a, nchwc(s.oc_block));
  if (a.pad >= 0) b.compute_inline(a.pad);
  const int pad = b.winograd(a.reduce, m), rows = pad + 1, data = pad + 2;
  b.layout(a.weight, {{2, 0}, {3, 0}, {0, 0}, {1, 0}, {0, vectors * s.oc_block}});  // [x][y][O / columns][I][columns]
  const int acc = b.cache_write(pad + 3), product = acc + 1, columns = acc + 2, out = a.output + 6;
  inline_epilogue(b, {.reduce = columns, .output = out});
  const bool fits = a.pad < 0 && s.oh % m == 0 && s.ow % m == 0;
  if (fits)
    b.compute_inline(pad);
  else
    schedule_padding(b, pad, s.ic_block, target);

  const auto axes = b.loops(out);  // n, o, h, w
  const auto c = b.split(out, axes[1], {s.oc_block});
  const auto w = b.split(out, axes[3], {m});
  std::vector<ir::Var> outer, h;
  if (block) {
    h = b.split(out, axes[2], {block, m});
    outer = {axes[0], h[0]};
    b.reorder(out, {axes[0], h[0], c[0], h[1], w[0], h[2], w[1], c[1]});
  } else {
    h = b.split(out, axes[2], {m});
    outer = {axes[0], c[0], h[0]};
    b.reorder(out, {axes[0], c[0], h[0], w[0], h[1], w[1], c[1]});
  }
  const ir::Var task = b.fuse(out, outer);
  b.unroll(out, h.back());
  b.unroll(out, w[1]);
  b.vectorize(out, c[1]);
  b.parallel(out, task);

  const auto z = b.loops(columns);  // n, o, th, tw, h, y
  rules::whole_blocks(b, columns, 1, s.oc_block);
  b.compute_at(columns, out, w[0]);
  b.reorder(columns, {z[0], z[2], z[3], z[4], z[5], z[1]});
  b.unroll(columns, z[4]);
  b.unroll(columns, z[5]);
  b.vectorize(columns, z[1]);

  const auto p = b.loops(product);  // x, y, n, o, th, tw
  rules::whole_blocks(b, product, 3, s.oc_block);
  b.layout(product, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {3, s.oc_block}});
  const auto o = b.split(product, p[3], {vectors, s.oc_block});
  const auto th = b.split(product, p[4], {e.integer("tile_th")});
  const auto tw = b.split(product, p[5], {e.integer("tile_tw")});
  b.reorder(product, {p[0], p[1], o[0], p[2], th[0], tw[0], th[1], tw[1], o[1], o[2]});
  b.compute_at(acc, product, tw[0]);
  b.unroll(product, th[1]);
  b.unroll(product, tw[1]);
  b.unroll(product, o[1]);
  b.vectorize(product, o[2]);

  const auto r = b.loops(acc);  // x, y, n, o, th, tw, i
  rules::whole_blocks(b, acc, 3, s.oc_block);
  const auto lanes = b.split(acc, r[3], {s.oc_block});
  const auto i = b.split(acc, r[6], {s.ic_block});
  b.reorder(acc, {r[0], r[1], r[2], i[0], i[1], r[4], r[5], lanes[0], lanes[1]});
  b.unroll(acc, r[4]);
  b.unroll(acc, r[5]);
  b.unroll(acc, lanes[0]);
  b.vectorize(acc, lanes[1]);

  const auto d = b.loops(data);  // x, y, n, i, th, tw
  rules::whole_blocks(b, data, 3, s.ic_block);
  b.layout(data, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {3, s.ic_block}});
  const auto channels = b.split(data, d[3], {s.ic_block});
  b.reorder(data, {d[2], channels[0], d[4], d[5], d[0], d[1], channels[1]});
  b.unroll(data, d[0]);
  b.unroll(data, d[1]);
  b.vectorize(data, channels[1]);

  const auto t = b.loops(rows);  // n, i, th, tw, x, j
  rules::whole_blocks(b, rows, 1, s.ic_block);
  b.compute_at(rows, data, d[5]);
  b.reorder(rows, {t[0], t[2], t[3], t[4], t[5], t[1]});
  b.unroll(rows, t[4]);
  b.unroll(rows, t[5]);
  b.vectorize(rows, t[1]);

  if (block) {
    b.compute_at(product, out, task);
    b.compute_at(data, out, task);
  } else {
    b.parallel(product, b.fuse(product, {p[0], p[1], o[0]}));
    b.parallel(data, b.fuse(data, {d[2], channels[0], d[4]}));
  }
  return std::move(b).finish();
}

}  // namespace

Template conv2d_winograd() {
  return {"conv2d_winograd.cpu",
          conv2d_winograd_matches,
          conv2d_winograd_space,
          conv2d_winograd_apply,
          conv2d_winograd_fallback,
          "Convolution with a 3x3 window by Winograd's algorithm: tiles are transformed, multiplied point by point as small matrix products, and transformed "
          "back, with 2.25 or 4 times fewer multiplications. Weights are transformed ahead of time.",
          "Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016"};
}

}  // namespace tw::space::cpu
