// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/x86/conv2d_nchwc.h"

#include <algorithm>

#include "engine/space/fallback.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/x86/tiles.h"

namespace tw::space::x86 {

namespace {

struct Shape {
  int64_t ic, oc, oh, ow, kw;
  int64_t knob_ow;  ///< width that tile_ow divides: AutoTVM computes it without the dilation
  bool pointwise;
};

Shape shape_of(const te::Dag& dag, const cpu::Anchor& a) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const auto &out = op.output->shape, &in = dag.ops[static_cast<size_t>(a.data)].output->shape, &w = dag.ops[static_cast<size_t>(a.weight)].output->shape;
  const auto attr = [&](const char* name, size_t i, int64_t otherwise) {
    const auto found = op.attrs.find(name);
    return found != op.attrs.end() && i < found->second.size() ? found->second[i] : otherwise;
  };
  const int64_t padded = in[3] + attr("pads", 1, 0) + attr("pads", 3, 0);
  return {w[1], out[1], out[2], out[3], w[3], (padded - w[3]) / attr("strides", 1, 1) + 1, w[2] == 1 && w[3] == 1};
}

}  // namespace

bool conv2d_nchwc_matches(const te::Dag& dag, const Target&) { return cpu::find_anchor(dag, "conv2d").has_value(); }

ConfigSpace conv2d_nchwc_space(const te::Dag& dag, const Target&) {
  const Shape s = shape_of(dag, *cpu::find_anchor(dag, "conv2d"));
  ConfigSpace space;
  space.define_split("tile_ic", s.ic, {.num_outputs = 2, .help = "input channels of a block"});
  space.define_split("tile_oc", s.oc, {.num_outputs = 2, .help = "output channels of a block"});
  SplitOptions ow{.num_outputs = 2, .policy = "verbose", .help = "output columns of the register tile"};
  ow.filter = [](const std::vector<int64_t>& size) { return size.back() <= 64; };
  space.define_split("tile_ow", s.knob_ow, ow);
  if (s.pointwise)
    space.define_knob("tile_oh", s.oh > 1 ? std::vector<Json>{1, 2} : std::vector<Json>{1}, "output rows of the register tile");
  else
    space.define_knob("unroll_kw", {true, false}, "whether the columns of the window are written out");
  return space;
}

ConfigEntity conv2d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  const Shape s = shape_of(dag, *cpu::find_anchor(dag, "conv2d"));
  const int64_t oc = rules::divisor_up_to(s.oc, target.lanes(kFloat32)), ic = rules::divisor_up_to(s.ic, oc), ow = rules::divisor_up_to(s.knob_ow, 31);
  std::vector<std::pair<std::string, Json>> values{{"tile_ic", {-1, ic}}, {"tile_oc", {-1, oc}}, {"tile_ow", {-1, ow}}, {"unroll_kw", false}};
  values.emplace_back("tile_oh", s.oh % 2 == 0 && 2 * ow < 32 ? 2 : 1);
  return point_with(conv2d_nchwc_space(dag, target), values);
}

Expected<schedule::Schedule> conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const cpu::Anchor a = *cpu::find_anchor(*dag, "conv2d");
  const Shape s = shape_of(*dag, a);
  const int64_t ic = e.split("tile_ic")[1], oc = e.split("tile_oc")[1], columns = std::min(e.split("tile_ow")[1], s.ow);
  const int64_t rows = s.pointwise ? e.integer("tile_oh") : 1, statements = rows * columns * oc / lanes_for(oc, target);
  schedule::Builder b(dag);
  if (const auto layout = blocked(ic); !layout.empty()) b.layout(a.data, layout);
  std::vector<schedule::LayoutStep::Piece> weights{{0, 0}, {1, 0}, {2, 0}, {3, 0}};
  if (ic > 1) weights.push_back({1, ic});
  if (oc > 1) weights.push_back({0, oc});
  if (weights.size() > 4) b.layout(a.weight, weights);
  cpu::layout_epilogue(b, *dag, a, blocked(oc));
  cpu::schedule_padding(b, a.pad, ic, target);
  cpu::inline_epilogue(b, a);
  int out = 0;
  const int acc = cpu::accumulator_stage(b, a, out);

  const auto axes = b.loops(out);  // n, oc, oh, ow
  const auto c = b.split(out, axes[1], {oc}), h = b.split(out, axes[2], {rows}), w = b.split(out, axes[3], {columns});
  const Vectors v = vectorize_tile(b, out, c[1], oc, target);
  b.reorder(out, {axes[0], c[0], h[0], w[0], h[1], w[1], v.whole, v.lanes});
  b.compute_at(acc, out, w[0]);
  if (written_out(statements)) {
    b.unroll(out, h[1]);
    b.unroll(out, w[1]);
  }
  b.parallel(out, b.fuse(out, {axes[0], c[0], h[0]}));

  const auto in = b.loops(acc);  // n, oc, oh, ow, ic, kh, kw
  const Vectors o = vectorize_tile(b, acc, in[1], oc, target);
  const auto i = b.split(acc, in[4], {ic});
  const bool unroll_kw = !s.pointwise && e.other("unroll_kw").get<bool>();
  if (unroll_kw)
    b.reorder(acc, {in[0], i[0], in[5], i[1], in[6], in[2], in[3], o.whole, o.lanes});
  else
    b.reorder(acc, {in[0], i[0], in[5], in[6], i[1], in[2], in[3], o.whole, o.lanes});
  if (unroll_kw && written_out(statements * s.kw)) b.unroll(acc, in[6]);
  if (written_out(statements)) {
    b.unroll(acc, in[2]);
    b.unroll(acc, in[3]);
  }
  return std::move(b).finish();
}

}  // namespace tw::space::x86
