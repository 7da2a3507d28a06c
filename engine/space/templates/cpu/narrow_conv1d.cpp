// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/narrow_conv.h"
#include "engine/space/templates/templates.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kNarrowConv1dTag = "conv1d";

bool narrow_conv1d_matches(const te::Dag& dag, const Target& target) { return find_narrow_conv(dag, target, kNarrowConv1dTag).has_value(); }

ConfigSpace narrow_conv1d_space(const te::Dag& dag, const Target& target) {
  return narrow_conv_space(dag, *find_narrow_conv(dag, target, kNarrowConv1dTag), target);
}

ConfigEntity narrow_conv1d_fallback(const te::Dag& dag, const Target& target) {
  return narrow_conv_fallback(dag, *find_narrow_conv(dag, target, kNarrowConv1dTag), target);
}

bool narrow_conv1d_rows_suit(const te::Dag& dag, const Target& target) {
  return narrow_conv_rows_suit(dag, *find_narrow_conv(dag, target, kNarrowConv1dTag), target);
}

Expected<schedule::Schedule> narrow_conv1d_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return narrow_conv_apply(dag, *find_narrow_conv(*dag, target, kNarrowConv1dTag), target, e);
}

}  // namespace

Template narrow_conv1d() {
  return {"narrow_conv1d.cpu",
          narrow_conv1d_matches,
          narrow_conv1d_space,
          narrow_conv1d_apply,
          narrow_conv1d_fallback,
          "Convolution along one dimension to a few channels, such as sound, as narrow_conv2d.cpu does it along two.",
          kDirectConv,
          nullptr,
          narrow_conv1d_rows_suit};
}

}  // namespace tw::space::cpu
