// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/direct_conv.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kGroupedConv3dTag = "grouped_conv3d";

bool grouped_conv3d_nchwc_matches(const te::Dag& dag, const Target& target) { return find_direct_conv(dag, target, kGroupedConv3dTag).has_value(); }

ConfigSpace grouped_conv3d_nchwc_space(const te::Dag& dag, const Target& target) {
  return direct_conv_space(dag, *find_direct_conv(dag, target, kGroupedConv3dTag), target);
}

ConfigEntity grouped_conv3d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return direct_conv_fallback(dag, *find_direct_conv(dag, target, kGroupedConv3dTag), target);
}

Expected<schedule::Schedule> grouped_conv3d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return direct_conv_apply(dag, *find_direct_conv(*dag, target, kGroupedConv3dTag), target, e);
}

}  // namespace

Template grouped_conv3d_nchwc() {
  return {"grouped_conv3d_nchwc.cpu",
          grouped_conv3d_nchwc_matches,
          grouped_conv3d_nchwc_space,
          grouped_conv3d_nchwc_apply,
          grouped_conv3d_nchwc_fallback,
          "Direct convolution in groups of channels along three dimensions, as grouped_conv2d_nchwc.cpu does it along two.",
          kDirectConv};
}

}  // namespace tw::space::cpu
