// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/depthwise_conv.h"
#include "engine/space/templates/templates.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kDepthwiseConv1dTag = "depthwise_conv1d";

bool depthwise_conv1d_nchwc_matches(const te::Dag& dag, const Target& target) { return find_depthwise_conv(dag, target, kDepthwiseConv1dTag).has_value(); }

ConfigSpace depthwise_conv1d_nchwc_space(const te::Dag& dag, const Target& target) {
  return depthwise_conv_space(dag, *find_depthwise_conv(dag, target, kDepthwiseConv1dTag), target);
}

ConfigEntity depthwise_conv1d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return depthwise_conv_fallback(dag, *find_depthwise_conv(dag, target, kDepthwiseConv1dTag), target);
}

Expected<schedule::Schedule> depthwise_conv1d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return depthwise_conv_apply(dag, *find_depthwise_conv(*dag, target, kDepthwiseConv1dTag), target, e);
}

}  // namespace

Template depthwise_conv1d_nchwc() {
  return {"depthwise_conv1d_nchwc.cpu",
          depthwise_conv1d_nchwc_matches,
          depthwise_conv1d_nchwc_space,
          depthwise_conv1d_nchwc_apply,
          depthwise_conv1d_nchwc_fallback,
          "Depthwise convolution along one dimension over blocks of channels, as depthwise_conv2d_nchwc.cpu does it along two.",
          "Zhang et al., High performance depthwise and pointwise convolutions on mobile devices, AAAI 2020"};
}

}  // namespace tw::space::cpu
