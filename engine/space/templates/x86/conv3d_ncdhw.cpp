// SPDX-License-Identifier: Apache-2.0
// AutoTVM's conv3d_ncdhw.x86: blocks of tile_ic input and tile_oc output channels, a register tile of at most 8 pixels.
#include "engine/space/templates/templates.h"

#include "engine/space/fallback.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/x86/blocked_conv.h"

namespace tw::space::x86 {

namespace {

struct Conv3dShape {
  cpu::Anchor anchor;
  int64_t ic, oc, columns;
};

std::optional<Conv3dShape> conv3d_shape(const te::Dag& dag) {
  const auto a = cpu::find_anchor(dag, "conv3d");
  if (!a) return std::nullopt;
  const std::vector<int64_t>& out = dag.ops[static_cast<size_t>(a->reduce)].output->shape;
  return Conv3dShape{*a, dag.ops[static_cast<size_t>(a->weight)].output->shape[1], out[1], knob_columns(dag, *a)};
}

bool conv3d_ncdhw_matches(const te::Dag& dag, const Target&) { return conv3d_shape(dag).has_value(); }

ConfigSpace conv3d_ncdhw_space(const te::Dag& dag, const Target&) {
  const Conv3dShape s = *conv3d_shape(dag);
  ConfigSpace space;
  space.define_split("tile_ic", s.ic, {.num_outputs = 2, .help = "input channels of a block"});
  space.define_split("tile_oc", s.oc, {.num_outputs = 2, .help = "output channels of a block"});
  SplitOptions ow{.num_outputs = 2, .help = "output columns of the register tile"};
  ow.filter = [](const std::vector<int64_t>& size) { return size.back() <= 8; };
  space.define_split("tile_ow", s.columns, ow);
  space.define_knob("unroll_kw", {true, false}, "whether the columns of the window are written out");
  return space;
}

ConfigEntity conv3d_ncdhw_fallback(const te::Dag& dag, const Target& target) {
  const Conv3dShape s = *conv3d_shape(dag);
  const int64_t oc = rules::divisor_up_to(s.oc, target.lanes(kFloat32)), ic = rules::divisor_up_to(s.ic, oc);
  return point_with(conv3d_ncdhw_space(dag, target),
                    {{"tile_ic", {-1, ic}}, {"tile_oc", {-1, oc}}, {"tile_ow", {-1, rules::divisor_up_to(s.columns, 7)}}, {"unroll_kw", false}});
}

Expected<schedule::Schedule> conv3d_ncdhw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return blocked_conv_schedule(dag, conv3d_shape(*dag)->anchor, target,
                               {e.split("tile_ic")[1], e.split("tile_oc")[1], 1, e.split("tile_ow")[1], e.other("unroll_kw").get<bool>()});
}

}  // namespace

Template conv3d_ncdhw() {
  return {"conv3d_ncdhw.x86",
          conv3d_ncdhw_matches,
          conv3d_ncdhw_space,
          conv3d_ncdhw_apply,
          conv3d_ncdhw_fallback,
          "AutoTVM's convolution of volumes over blocks of channels; the register tile is a short row of pixels times a block.",
          kAutotvmX86};
}

}  // namespace tw::space::x86
