// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/direct_conv.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kConv2dTag = "conv2d";

bool conv2d_nchwc_matches(const te::Dag& dag, const Target& target) { return find_direct_conv(dag, target, kConv2dTag).has_value(); }

ConfigSpace conv2d_nchwc_space(const te::Dag& dag, const Target& target) { return direct_conv_space(dag, *find_direct_conv(dag, target, kConv2dTag), target); }

ConfigEntity conv2d_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return direct_conv_fallback(dag, *find_direct_conv(dag, target, kConv2dTag), target);
}

bool conv2d_nchwc_rows_suit(const te::Dag& dag, const Target& target) { return direct_conv_rows_suit(dag, *find_direct_conv(dag, target, kConv2dTag), target); }

Expected<schedule::Schedule> conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return direct_conv_apply(dag, *find_direct_conv(*dag, target, kConv2dTag), target, e);
}

}  // namespace

Template conv2d_nchwc() {
  return {"conv2d_nchwc.cpu",
          conv2d_nchwc_matches,
          conv2d_nchwc_space,
          conv2d_nchwc_apply,
          conv2d_nchwc_fallback,
          "Direct convolution over tensors stored in blocks of channels. One vector holds a block of output channels; a register tile of neighbouring pixels "
          "times channel blocks shares the loads of weights and inputs.",
          kDirectConv,
          nullptr,
          conv2d_nchwc_rows_suit};
}

}  // namespace tw::space::cpu
