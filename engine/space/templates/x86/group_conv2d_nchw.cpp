// SPDX-License-Identifier: Apache-2.0
// AutoTVM's group_conv2d_nchw.x86: as conv2d_NCHWc.x86, group by group. Points whose blocks cross groups are invalid, where AutoTVM computes wrong results.
#include "engine/space/templates/templates.h"

#include "engine/space/fallback.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/x86/blocked_conv.h"

namespace tw::space::x86 {

namespace {

struct GroupConvShape {
  cpu::Anchor anchor;
  int64_t ic, oc, columns;
  int64_t groups;
};

std::optional<GroupConvShape> group_conv_shape(const te::Dag& dag) {
  const auto a = cpu::find_anchor(dag, "grouped_conv2d");
  if (!a) return std::nullopt;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  const auto groups = op.attrs.find("groups");
  if (groups == op.attrs.end()) return std::nullopt;
  return GroupConvShape{*a, dag.ops[static_cast<size_t>(a->data)].output->shape[1], op.output->shape[1], knob_columns(dag, *a), groups->second.front()};
}

bool group_conv2d_nchw_matches(const te::Dag& dag, const Target&) { return group_conv_shape(dag).has_value(); }

ConfigSpace group_conv2d_nchw_space(const te::Dag& dag, const Target&) {
  const GroupConvShape s = *group_conv_shape(dag);
  ConfigSpace space;
  space.define_split("tile_ic", s.ic, {.num_outputs = 2, .help = "input channels of a block"});
  space.define_split("tile_oc", s.oc, {.num_outputs = 2, .help = "output channels of a block"});
  SplitOptions ow{.num_outputs = 2, .help = "output columns of the register tile"};
  ow.filter = [](const std::vector<int64_t>& size) { return size.back() <= 64; };
  space.define_split("tile_ow", s.columns, ow);
  space.define_knob("unroll_kw", {true, false}, "whether the columns of the window are written out");
  space.add_filter([s](const ConfigEntity& e) { return s.ic / s.groups % e.split("tile_ic")[1] == 0 && s.oc / s.groups % e.split("tile_oc")[1] == 0; },
                   "a block of channels crosses groups");
  return space;
}

ConfigEntity group_conv2d_nchw_fallback(const te::Dag& dag, const Target& target) {
  const GroupConvShape s = *group_conv_shape(dag);
  const int64_t oc = rules::divisor_up_to(s.oc / s.groups, target.lanes(kFloat32)), ic = rules::divisor_up_to(s.ic / s.groups, oc);
  return point_with(group_conv2d_nchw_space(dag, target),
                    {{"tile_ic", {-1, ic}}, {"tile_oc", {-1, oc}}, {"tile_ow", {-1, rules::divisor_up_to(s.columns, 31)}}, {"unroll_kw", false}});
}

Expected<schedule::Schedule> group_conv2d_nchw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return blocked_conv_schedule(dag, group_conv_shape(*dag)->anchor, target,
                               {e.split("tile_ic")[1], e.split("tile_oc")[1], 1, e.split("tile_ow")[1], e.other("unroll_kw").get<bool>()});
}

}  // namespace

Template group_conv2d_nchw() {
  return {"group_conv2d_nchw.x86",
          group_conv2d_nchw_matches,
          group_conv2d_nchw_space,
          group_conv2d_nchw_apply,
          group_conv2d_nchw_fallback,
          "AutoTVM's grouped convolution over blocks of channels, none of which crosses groups; the register tile is a row of pixels times a block.",
          kAutotvmX86};
}

}  // namespace tw::space::x86
