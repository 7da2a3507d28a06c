// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/rules/rules.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cpu {

namespace {

struct TransposedConvShape {
  int64_t batch, ic, oc, oh, ow, stride_w, ic_block, oc_block;
};

TransposedConvShape transposed_conv_shape(const te::Dag& dag, const Anchor& a, const Target& target) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const std::vector<int64_t>& out = op.output->shape;
  const int64_t ic = dag.ops[static_cast<size_t>(a.weight)].output->shape[0];
  return {out[0], ic, out[1], out[2], out[3], op.attrs.at("strides")[1], channel_block(ic, target), channel_block(out[1], target)};
}

bool conv2d_transpose_nchwc_matches(const te::Dag& dag, const Target& target) {
  const auto a = find_anchor(dag, "conv2d_transpose");
  if (!a) return false;
  const auto& attrs = dag.ops[static_cast<size_t>(a->reduce)].attrs;
  return attrs.contains("strides") && attrs.contains("groups") && attrs.at("groups")[0] == 1 && transposed_conv_shape(dag, *a, target).oc_block > 1;
}

ConfigSpace conv2d_transpose_nchwc_space(const te::Dag& dag, const Target& target) {
  const TransposedConvShape s = transposed_conv_shape(dag, *find_anchor(dag, "conv2d_transpose"), target);
  ConfigSpace space;
  // Neighbouring columns meet different taps; a tile of whole strides has the same ones everywhere.
  std::vector<std::vector<int64_t>> columns;
  for (const int64_t t : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14})
    if (t * s.stride_w <= s.ow && t * s.stride_w <= 28) columns.push_back({-1, t * s.stride_w});
  if (columns.empty()) columns.push_back({-1, s.ow});
  space.define_split("tile_ow", s.ow, {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "output columns of the register tile"});
  space.define_knob("oc_blocks", panel_widths({1, 2, 3, 4, 5, 6}, blocks_for(s.oc, s.oc_block)), "blocks of output channels of the register tile");
  space.define_knob("unroll_ic", up_to({1, 2}, s.ic_block), "input channels written out");
  space.define_knob("rows_outer", {0, 1}, "1: rows of the image outside, channels inside; 0: the other way round");
  space.add_filter([target](const ConfigEntity& e) { return fits_registers(e.split("tile_ow")[1], e.integer("oc_blocks"), target); },
                   "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity conv2d_transpose_nchwc_fallback(const te::Dag& dag, const Target& target) {
  const Anchor a = *find_anchor(dag, "conv2d_transpose");
  const TransposedConvShape s = transposed_conv_shape(dag, a, target);
  const bool rows_outer = dag.ops[static_cast<size_t>(a.weight)].output->bytes() <= target.l2_bytes / 2;
  return conv2d_transpose_nchwc_space(dag, target).best_by([&](const ConfigEntity& e) {
    const int64_t columns = e.split("tile_ow")[1], blocks = e.integer("oc_blocks"), vectors = blocks_for(s.oc, s.oc_block);
    const int64_t tasks = s.batch * s.oh * ((vectors + blocks - 1) / blocks);
    const bool rolled = e.integer("unroll_ic") == 1, order = (e.integer("rows_outer") != 0) == rows_outer;
    return tile_rate(columns, blocks, target) * filled(s.ow, columns) * filled(vectors, blocks) * balanced(tasks, target) + (rolled ? 2 : 0) + (order ? 1 : 0);
  });
}

Expected<schedule::Schedule> conv2d_transpose_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Anchor a = *find_anchor(*dag, "conv2d_transpose");
  const TransposedConvShape s = transposed_conv_shape(*dag, a, target);
  const int64_t blocks = e.integer("oc_blocks"), unroll = e.integer("unroll_ic");
  schedule::Builder b(dag);
  // The channels of a single pixel lie together as they are.
  const std::vector<int64_t>& data = dag->ops[static_cast<size_t>(a.data)].output->shape;
  if (s.ic_block > 1 && data[2] * data[3] > 1) b.layout(a.data, nchwc(s.ic_block));
  b.layout(a.weight, {{1, 0}, {2, 0}, {3, 0}, {0, 0}, {1, blocks * s.oc_block}});  // [O / columns][KH][KW][I][columns]
  layout_epilogue(b, *dag, a, nchwc(s.oc_block));
  schedule_padding(b, a.pad, s.ic_block, target);
  inline_epilogue(b, a);
  int out = 0;
  const int acc = accumulator_stage(b, a, out);

  const auto axes = b.loops(out);  // n, oc, oh, ow
  const auto c = b.split(out, axes[1], {blocks, s.oc_block});
  const auto w = b.split(out, axes[3], {e.split("tile_ow")[1]});
  const bool rows_outer = e.integer("rows_outer") != 0;
  const ir::Var first = rows_outer ? axes[2] : c[0], second = rows_outer ? c[0] : axes[2];
  b.reorder(out, {axes[0], first, second, w[0], w[1], c[1], c[2]});
  b.compute_at(acc, out, w[0]);
  b.unroll(out, w[1]);
  b.unroll(out, c[1]);
  b.vectorize(out, c[2]);
  b.parallel(out, b.fuse(out, {axes[0], first, second}));

  const auto in = b.loops(acc);  // n, oc, oh, ow, ic, taps of h, taps of w
  rules::whole_blocks(b, acc, 1, blocks * s.oc_block);
  const auto oc = b.split(acc, in[1], {s.oc_block});
  const auto ic = b.split(acc, in[4], {s.ic_block / unroll, unroll});
  b.reorder(acc, {in[0], ic[0], in[5], in[6], ic[1], ic[2], in[2], in[3], oc[0], oc[1]});
  b.unroll(acc, ic[2]);
  b.unroll(acc, in[3]);
  b.unroll(acc, oc[0]);
  b.vectorize(acc, oc[1]);
  return std::move(b).finish();
}

}  // namespace

Template conv2d_transpose_nchwc() {
  return {"conv2d_transpose_nchwc.cpu",
          conv2d_transpose_nchwc_matches,
          conv2d_transpose_nchwc_space,
          conv2d_transpose_nchwc_apply,
          conv2d_transpose_nchwc_fallback,
          "Transposed convolution over blocks of channels, as a sum over the taps that each output meets: no zeros are inserted. A register tile spans whole "
          "strides, so that its columns meet the same taps everywhere.",
          "Shi et al., Is the deconvolution layer the same as a convolutional layer?, arXiv:1609.07009, 2016"};
}

}  // namespace tw::space::cpu
