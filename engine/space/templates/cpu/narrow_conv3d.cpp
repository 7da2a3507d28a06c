// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/narrow_conv.h"
#include "engine/space/templates/templates.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kNarrowConv3dTag = "conv3d";

bool narrow_conv3d_matches(const te::Dag& dag, const Target& target) { return find_narrow_conv(dag, target, kNarrowConv3dTag).has_value(); }

ConfigSpace narrow_conv3d_space(const te::Dag& dag, const Target& target) {
  return narrow_conv_space(dag, *find_narrow_conv(dag, target, kNarrowConv3dTag), target);
}

ConfigEntity narrow_conv3d_fallback(const te::Dag& dag, const Target& target) {
  return narrow_conv_fallback(dag, *find_narrow_conv(dag, target, kNarrowConv3dTag), target);
}

bool narrow_conv3d_rows_suit(const te::Dag& dag, const Target& target) {
  return narrow_conv_rows_suit(dag, *find_narrow_conv(dag, target, kNarrowConv3dTag), target);
}

Expected<schedule::Schedule> narrow_conv3d_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return narrow_conv_apply(dag, *find_narrow_conv(*dag, target, kNarrowConv3dTag), target, e);
}

}  // namespace

Template narrow_conv3d() {
  return {"narrow_conv3d.cpu",
          narrow_conv3d_matches,
          narrow_conv3d_space,
          narrow_conv3d_apply,
          narrow_conv3d_fallback,
          "Convolution along three dimensions to a few channels, as narrow_conv2d.cpu does it along two.",
          kDirectConv,
          nullptr,
          narrow_conv3d_rows_suit};
}

}  // namespace tw::space::cpu
