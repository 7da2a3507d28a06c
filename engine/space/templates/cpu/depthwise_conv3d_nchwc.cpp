// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/depthwise_conv.h"
#include "engine/space/templates/templates.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kDepthwiseConv3dTag = "depthwise_conv3d";

bool depthwise_conv3d_nchwc_matches(const te::Dag& dag, const Target& target) { return find_depthwise_conv(dag, target, kDepthwiseConv3dTag).has_value(); }

ConfigSpace depthwise_conv3d_nchwc_space(const te::Dag& dag, const Target& target) {
  return depthwise_conv_space(dag, *find_depthwise_conv(dag, target, kDepthwiseConv3dTag), target);
}

ConfigEntity depthwise_conv3d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return depthwise_conv_fallback(dag, *find_depthwise_conv(dag, target, kDepthwiseConv3dTag), target);
}

Expected<schedule::Schedule> depthwise_conv3d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return depthwise_conv_apply(dag, *find_depthwise_conv(*dag, target, kDepthwiseConv3dTag), target, e);
}

}  // namespace

Template depthwise_conv3d_nchwc() {
  return {"depthwise_conv3d_nchwc.cpu",
          depthwise_conv3d_nchwc_matches,
          depthwise_conv3d_nchwc_space,
          depthwise_conv3d_nchwc_apply,
          depthwise_conv3d_nchwc_fallback,
          "Depthwise convolution along three dimensions over blocks of channels, as depthwise_conv2d_nchwc.cpu does it along two.",
          "Zhang et al., High performance depthwise and pointwise convolutions on mobile devices, AAAI 2020"};
}

}  // namespace tw::space::cpu
