// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>

#include "engine/space/fallback.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/x86/tiles.h"

namespace tw::space::x86 {

namespace {

const std::vector<int64_t>& output_shape(const te::Dag& dag, const cpu::Anchor& a) { return dag.ops[static_cast<size_t>(a.reduce)].output->shape; }

bool depthwise_conv2d_nchwc_matches(const te::Dag& dag, const Target&) {
  const auto a = cpu::find_anchor(dag, "depthwise_conv2d");
  if (!a || dag.ops[static_cast<size_t>(a->data)].output->shape[1] != output_shape(dag, *a)[1]) return false;
  const auto& attrs = dag.ops[static_cast<size_t>(a->reduce)].attrs;
  const auto dilations = attrs.find("dilations");
  return dilations == attrs.end() || std::all_of(dilations->second.begin(), dilations->second.end(), [](int64_t d) { return d == 1; });
}

ConfigSpace depthwise_conv2d_nchwc_space(const te::Dag& dag, const Target&) {
  const auto& shape = output_shape(dag, *cpu::find_anchor(dag, "depthwise_conv2d"));
  ConfigSpace space;
  space.define_split("tile_ic", shape[1], {.num_outputs = 2, .help = "channels of a block of the input"});
  space.define_split("tile_oc", shape[1], {.num_outputs = 2, .help = "channels of a block of the output"});
  SplitOptions ow{.num_outputs = 2, .help = "output columns of the register tile"};
  ow.filter = [](const std::vector<int64_t>& size) { return size.back() <= 64; };
  space.define_split("tile_ow", shape[3], ow);
  space.define_knob("unroll_kw", {true, false}, "whether the columns of the window are written out");
  return space;
}

ConfigEntity depthwise_conv2d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  const auto& shape = output_shape(dag, *cpu::find_anchor(dag, "depthwise_conv2d"));
  const int64_t block = rules::divisor_up_to(shape[1], target.lanes(kFloat32));
  return point_with(depthwise_conv2d_nchwc_space(dag, target),
                    {{"tile_ic", {-1, block}}, {"tile_oc", {-1, block}}, {"tile_ow", {-1, rules::divisor_up_to(shape[3], 31)}}, {"unroll_kw", false}});
}

Expected<schedule::Schedule> depthwise_conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const cpu::Anchor a = *cpu::find_anchor(*dag, "depthwise_conv2d");
  const int64_t ic = e.split("tile_ic")[1], oc = e.split("tile_oc")[1];
  const int64_t columns = e.split("tile_ow")[1], statements = columns * oc / lanes_for(oc, target);
  const int64_t kw = dag->ops[static_cast<size_t>(a.weight)].output->shape[3];
  schedule::Builder b(dag);
  if (const auto layout = blocked(ic); !layout.empty()) b.layout(a.data, layout);
  if (oc > 1) b.layout(a.weight, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, oc}});
  cpu::layout_epilogue(b, *dag, a, blocked(oc));
  cpu::schedule_padding(b, a.pad, ic, target);
  cpu::inline_epilogue(b, a);
  int out = 0;
  const int acc = cpu::accumulator_stage(b, a, out);

  const auto axes = b.loops(out);  // n, c, oh, ow
  const auto c = b.split(out, axes[1], {oc}), w = b.split(out, axes[3], {columns});
  const Vectors v = vectorize_tile(b, out, c[1], oc, target);
  b.reorder(out, {axes[0], c[0], axes[2], w[0], w[1], v.whole, v.lanes});
  b.compute_at(acc, out, w[0]);
  if (written_out(statements)) b.unroll(out, w[1]);
  b.parallel(out, b.fuse(out, {axes[0], c[0], axes[2]}));

  const auto in = b.loops(acc);  // n, c, oh, ow, kh, kw
  const Vectors o = vectorize_tile(b, acc, in[1], oc, target);
  b.reorder(acc, {in[0], in[4], in[5], in[2], in[3], o.whole, o.lanes});
  if (e.other("unroll_kw").get<bool>() && written_out(statements * kw)) b.unroll(acc, in[5]);
  b.unroll(acc, in[2]);
  if (written_out(statements)) b.unroll(acc, in[3]);
  return std::move(b).finish();
}

}  // namespace

Template depthwise_conv2d_nchwc() {
  return {
      "depthwise_conv2d_NCHWc.x86",
      depthwise_conv2d_nchwc_matches,
      depthwise_conv2d_nchwc_space,
      depthwise_conv2d_nchwc_apply,
      depthwise_conv2d_nchwc_fallback,
      "AutoTVM's depthwise convolution over blocks of channels, which may differ between input and output; the register tile is a row of pixels times a block.",
      "Liu et al., Optimizing CNN model inference on CPUs (NeoCPU), USENIX ATC 2019; TVM v0.9.0 (names, knobs and loop orders)"};
}

}  // namespace tw::space::x86
