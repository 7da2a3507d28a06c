// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>

#include "engine/space/rules/rules.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cpu {

namespace {

const std::vector<int64_t>& output_shape(const te::Dag& dag, const Anchor& a) { return dag.ops[static_cast<size_t>(a.reduce)].output->shape; }

/// Taps of a window that the rule writes out, at most. Where registers are few compilers hoist more than there is room for, and windows of 25 take 0.7 to 1.3 times the time; with 32 of them
/// windows of 25 and 49 take 0.7 to 0.9 of it (strided ones on 28x28 0.95 and 1.05 to 1.25). Of 81 strided ones are slower, and of 121 the code is larger than what is compiled. Measured on a Zen 4.
int64_t most_written(const Target& target) { return target.vector_registers >= 32 ? 49 : 9; }

bool depthwise_conv2d_nchwc_matches(const te::Dag& dag, const Target& target) {
  const auto a = find_anchor(dag, "depthwise_conv2d");
  if (!a) return false;
  const std::vector<int64_t>& out = output_shape(dag, *a);
  const bool one_each = dag.ops[static_cast<size_t>(a->data)].output->shape[1] == out[1];
  return one_each && channel_block(out[1], target) > 1;
}

/// Whether pieces of parallel work may be rows of the image. The first and last one, which touch the padding, are told from the others by the row alone, so that only one image has such pieces.
bool can_share_rows(const te::Dag& dag, const Anchor& a, const Target& target) { return target.cores > 1 && output_shape(dag, a)[0] == 1; }

ConfigSpace depthwise_conv2d_nchwc_space(const te::Dag& dag, const Target& target) {
  const Anchor a = *find_anchor(dag, "depthwise_conv2d");
  const std::vector<int64_t>& out = output_shape(dag, a);
  ConfigSpace space;
  std::vector<std::vector<int64_t>> columns;
  for (const int64_t t : {1, 2, 3, 4, 5, 6, 7, 8, 14})
    if (t <= out[3]) columns.push_back({-1, t});
  space.define_split("tile_ow", out[3], {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "output columns of the register tile"});
  space.define_knob("tile_oh", up_to({1, 2, 3, 4}, out[2]), "output rows of the register tile, which share the input rows");
  if (a.pad >= 0)
    space.define_knob("pad_inline", {0, 1}, "1: zero padding is tested where the input is read, 0: the input is copied into a padded array first");
  space.define_knob("unroll_window", {0, 1}, "1: the kernel window is written out, so that neighbouring taps share loads");
  if (can_share_rows(dag, a, target)) space.define_knob("parallel_rows", {0, 1}, "what cores share, 0: blocks of channels, 1: rows of the image, each with all channels");
  space.add_filter([](const ConfigEntity& e) { return e.split("tile_ow")[1] * e.integer("tile_oh") <= 24; },
                   "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity depthwise_conv2d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  const Anchor a = *find_anchor(dag, "depthwise_conv2d");
  const std::vector<int64_t>& out = output_shape(dag, a);
  int64_t taps = 1;
  for (const te::Axis& r : dag.ops[static_cast<size_t>(a.reduce)].reduce_axes) taps *= r.extent;
  const int64_t block = channel_block(out[1], target), blocks = out[0] * ((out[1] + block - 1) / block);
  const std::vector<int64_t>& data = dag.ops[static_cast<size_t>(a.data)].output->shape;
  const int64_t height = dag.ops[static_cast<size_t>(a.reduce)].reduce_axes.front().extent;
  const bool rows_stay = can_share_rows(dag, a, target) && height * data[3] * data[1] * 4 <= target.l2_bytes / 2;
  return depthwise_conv2d_nchwc_space(dag, target).best_by([&](const ConfigEntity& e) {
    const int64_t columns = e.split("tile_ow")[1], rows = e.integer("tile_oh");
    // Of equals the first stays, which is blocks: they find a row's neighbours in the nearest cache, rows in the second.
    const bool by_rows = can_share_rows(dag, a, target) && e.integer("parallel_rows") != 0;
    const double busy = !by_rows ? balanced(blocks, target) : rows_stay ? balanced((out[2] + rows - 1) / rows, target) : 0;
    // Written out, a window keeps its weights and the columns that its taps share in registers, and asks for no address.
    const bool window = (e.integer("unroll_window") != 0) == (taps <= most_written(target)), inlined = a.pad < 0 || e.integer("pad_inline") != 0;
    const double rate = std::min(1.0, static_cast<double>(columns * rows) / 8) - 0.01 * static_cast<double>(std::max<int64_t>(0, columns * rows - 8));
    return rate * busy * filled(out[3], columns) * filled(out[2], rows) + (window ? 2 : 0) + (inlined ? 2 : 0);
  });
}

Expected<schedule::Schedule> depthwise_conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Anchor a = *find_anchor(*dag, "depthwise_conv2d");
  const int64_t block = channel_block(output_shape(*dag, a)[1], target);
  schedule::Builder b(dag);
  b.layout(a.data, nchwc(block));
  b.layout(a.weight, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, block}});
  layout_epilogue(b, *dag, a, nchwc(block));
  if (a.pad >= 0 && e.integer("pad_inline") != 0)
    b.compute_inline(a.pad);
  else
    schedule_padding(b, a.pad, block, target);
  inline_epilogue(b, a);
  int out = 0;
  const int acc = accumulator_stage(b, a, out);

  const auto axes = b.loops(out);  // n, c, oh, ow
  const auto c = b.split(out, axes[1], {block});
  const auto h = b.split(out, axes[2], {e.integer("tile_oh")});
  const auto w = b.split(out, axes[3], {e.split("tile_ow")[1]});
  const bool by_rows = can_share_rows(*dag, a, target) && e.integer("parallel_rows") != 0;
  const ir::Var shared = by_rows ? h[0] : c[0], own = by_rows ? c[0] : h[0];
  b.reorder(out, {axes[0], shared, own, w[0], h[1], w[1], c[1]});
  b.compute_at(acc, out, w[0]);
  b.unroll(out, h[1]);
  b.unroll(out, w[1]);
  b.vectorize(out, c[1]);
  // Rows stay a loop of their own: the first and last one, which touch the padding, are cut off it.
  b.parallel(out, b.fuse(out, {axes[0], shared}));

  const auto in = b.loops(acc);  // n, c, oh, ow, kh, kw
  rules::whole_blocks(b, acc, 1, block);
  b.reorder(acc, {in[0], in[4], in[5], in[2], in[3], in[1]});
  if (e.integer("unroll_window") != 0) {
    b.unroll(acc, in[4]);
    b.unroll(acc, in[5]);
  }
  b.unroll(acc, in[2]);
  b.unroll(acc, in[3]);
  b.vectorize(acc, in[1]);
  return std::move(b).finish();
}

}  // namespace

Template depthwise_conv2d_nchwc() {
  return {"depthwise_conv2d_nchwc.cpu",
          depthwise_conv2d_nchwc_matches,
          depthwise_conv2d_nchwc_space,
          depthwise_conv2d_nchwc_apply,
          depthwise_conv2d_nchwc_fallback,
          "Depthwise convolution over blocks of channels. With the window written out, neighbouring taps and rows reuse inputs from registers.",
          "Zhang et al., High performance depthwise and pointwise convolutions on mobile devices, AAAI 2020"};
}

}  // namespace tw::space::cpu
