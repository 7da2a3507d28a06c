// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/direct_conv.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kConv1dTag = "conv1d";

bool conv1d_nchwc_matches(const te::Dag& dag, const Target& target) { return find_direct_conv(dag, target, kConv1dTag).has_value(); }

ConfigSpace conv1d_nchwc_space(const te::Dag& dag, const Target& target) { return direct_conv_space(dag, *find_direct_conv(dag, target, kConv1dTag), target); }

ConfigEntity conv1d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return direct_conv_fallback(dag, *find_direct_conv(dag, target, kConv1dTag), target);
}

bool conv1d_nchwc_rows_suit(const te::Dag& dag, const Target& target) { return direct_conv_rows_suit(dag, *find_direct_conv(dag, target, kConv1dTag), target); }

Expected<schedule::Schedule> conv1d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return direct_conv_apply(dag, *find_direct_conv(*dag, target, kConv1dTag), target, e);
}

}  // namespace

Template conv1d_nchwc() {
  return {"conv1d_nchwc.cpu",    conv1d_nchwc_matches,
          conv1d_nchwc_space,    conv1d_nchwc_apply,
          conv1d_nchwc_fallback, "Direct convolution along one dimension over blocks of channels, as conv2d_nchwc.cpu does it along two.",
          kDirectConv,           nullptr,
          conv1d_nchwc_rows_suit};
}

}  // namespace tw::space::cpu
