// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/direct_conv.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kGroupedConv2dTag = "grouped_conv2d";

bool grouped_conv2d_nchwc_matches(const te::Dag& dag, const Target& target) { return find_direct_conv(dag, target, kGroupedConv2dTag).has_value(); }

ConfigSpace grouped_conv2d_nchwc_space(const te::Dag& dag, const Target& target) {
  return direct_conv_space(dag, *find_direct_conv(dag, target, kGroupedConv2dTag), target);
}

ConfigEntity grouped_conv2d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return direct_conv_fallback(dag, *find_direct_conv(dag, target, kGroupedConv2dTag), target);
}

Expected<schedule::Schedule> grouped_conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return direct_conv_apply(dag, *find_direct_conv(*dag, target, kGroupedConv2dTag), target, e);
}

}  // namespace

Template grouped_conv2d_nchwc() {
  return {"grouped_conv2d_nchwc.cpu",
          grouped_conv2d_nchwc_matches,
          grouped_conv2d_nchwc_space,
          grouped_conv2d_nchwc_apply,
          grouped_conv2d_nchwc_fallback,
          "Direct convolution in groups of channels. A vector of output channels, or its part that is computed by itself, lies in one group.",
          kDirectConv};
}

}  // namespace tw::space::cpu
