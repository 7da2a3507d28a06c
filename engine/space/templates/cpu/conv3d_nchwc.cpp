// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/direct_conv.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kConv3dTag = "conv3d";

bool conv3d_nchwc_matches(const te::Dag& dag, const Target& target) { return find_direct_conv(dag, target, kConv3dTag).has_value(); }

ConfigSpace conv3d_nchwc_space(const te::Dag& dag, const Target& target) { return direct_conv_space(dag, *find_direct_conv(dag, target, kConv3dTag), target); }

ConfigEntity conv3d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return direct_conv_fallback(dag, *find_direct_conv(dag, target, kConv3dTag), target);
}

bool conv3d_nchwc_rows_suit(const te::Dag& dag, const Target& target) { return direct_conv_rows_suit(dag, *find_direct_conv(dag, target, kConv3dTag), target); }

Expected<schedule::Schedule> conv3d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return direct_conv_apply(dag, *find_direct_conv(*dag, target, kConv3dTag), target, e);
}

}  // namespace

Template conv3d_nchwc() {
  return {"conv3d_nchwc.cpu",    conv3d_nchwc_matches,
          conv3d_nchwc_space,    conv3d_nchwc_apply,
          conv3d_nchwc_fallback, "Direct convolution along three dimensions over blocks of channels, as conv2d_nchwc.cpu does it along two.",
          kDirectConv,           nullptr,
          conv3d_nchwc_rows_suit};
}

}  // namespace tw::space::cpu
