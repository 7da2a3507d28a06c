// SPDX-License-Identifier: Apache-2.0
// AutoTVM's conv2d_NCHWc.x86: blocks of tile_ic input and tile_oc output channels, a register tile of tile_ow pixels.
#include "engine/space/templates/templates.h"

#include <algorithm>

#include "engine/space/fallback.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/x86/blocked_conv.h"

namespace tw::space::x86 {

namespace {

struct Conv2dShape {
  int64_t ic, oc, oh, columns;
  bool pointwise;
};

Conv2dShape conv2d_shape(const te::Dag& dag, const cpu::Anchor& a) {
  const auto &out = dag.ops[static_cast<size_t>(a.reduce)].output->shape, &w = dag.ops[static_cast<size_t>(a.weight)].output->shape;
  return {w[1], out[1], out[2], knob_columns(dag, a), w[2] == 1 && w[3] == 1};
}

bool conv2d_nchwc_matches(const te::Dag& dag, const Target&) { return cpu::find_anchor(dag, "conv2d").has_value(); }

ConfigSpace conv2d_nchwc_space(const te::Dag& dag, const Target&) {
  const Conv2dShape s = conv2d_shape(dag, *cpu::find_anchor(dag, "conv2d"));
  ConfigSpace space;
  space.define_split("tile_ic", s.ic, {.num_outputs = 2, .help = "input channels of a block"});
  space.define_split("tile_oc", s.oc, {.num_outputs = 2, .help = "output channels of a block"});
  SplitOptions ow{.num_outputs = 2, .policy = "verbose", .help = "output columns of the register tile"};
  ow.filter = [](const std::vector<int64_t>& size) { return size.back() <= 64; };
  space.define_split("tile_ow", s.columns, ow);
  if (s.pointwise)
    space.define_knob("tile_oh", s.oh > 1 ? std::vector<Json>{1, 2} : std::vector<Json>{1}, "output rows of the register tile");
  else
    space.define_knob("unroll_kw", {true, false}, "whether the columns of the window are written out");
  return space;
}

ConfigEntity conv2d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  const Conv2dShape s = conv2d_shape(dag, *cpu::find_anchor(dag, "conv2d"));
  const int64_t oc = rules::divisor_up_to(s.oc, target.lanes(kFloat32)), ic = rules::divisor_up_to(s.ic, oc), ow = rules::divisor_up_to(s.columns, 31);
  std::vector<std::pair<std::string, Json>> values{{"tile_ic", {-1, ic}}, {"tile_oc", {-1, oc}}, {"tile_ow", {-1, ow}}, {"unroll_kw", false}};
  values.emplace_back("tile_oh", s.oh % 2 == 0 && 2 * ow < 32 ? 2 : 1);
  return point_with(conv2d_nchwc_space(dag, target), values);
}

Expected<schedule::Schedule> conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const cpu::Anchor a = *cpu::find_anchor(*dag, "conv2d");
  const bool pointwise = conv2d_shape(*dag, a).pointwise;
  return blocked_conv_schedule(dag, a, target,
                               {e.split("tile_ic")[1], e.split("tile_oc")[1], pointwise ? e.integer("tile_oh") : 1, e.split("tile_ow")[1],
                                !pointwise && e.other("unroll_kw").get<bool>()});
}

}  // namespace

Template conv2d_nchwc() {
  return {"conv2d_NCHWc.x86",
          conv2d_nchwc_matches,
          conv2d_nchwc_space,
          conv2d_nchwc_apply,
          conv2d_nchwc_fallback,
          "AutoTVM's direct convolution over blocks of channels. The blocks of input and output channels are knobs, so every point brings its own layouts; the "
          "register tile is a row of pixels times one block of output channels.",
          "Liu et al., Optimizing CNN model inference on CPUs (NeoCPU), USENIX ATC 2019; TVM v0.9.0 (names, knobs and loop orders)"};
}

}  // namespace tw::space::x86
