// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/narrow_conv.h"
#include "engine/space/templates/templates.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kNarrowConv2dTag = "conv2d";

bool narrow_conv2d_matches(const te::Dag& dag, const Target& target) { return find_narrow_conv(dag, target, kNarrowConv2dTag).has_value(); }

ConfigSpace narrow_conv2d_space(const te::Dag& dag, const Target& target) {
  return narrow_conv_space(dag, *find_narrow_conv(dag, target, kNarrowConv2dTag), target);
}

ConfigEntity narrow_conv2d_fallback(const te::Dag& dag, const Target& target) {
  return narrow_conv_fallback(dag, *find_narrow_conv(dag, target, kNarrowConv2dTag), target);
}

bool narrow_conv2d_rows_suit(const te::Dag& dag, const Target& target) {
  return narrow_conv_rows_suit(dag, *find_narrow_conv(dag, target, kNarrowConv2dTag), target);
}

Expected<schedule::Schedule> narrow_conv2d_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return narrow_conv_apply(dag, *find_narrow_conv(*dag, target, kNarrowConv2dTag), target, e);
}

}  // namespace

Template narrow_conv2d() {
  return {
      "narrow_conv2d.cpu",
      narrow_conv2d_matches,
      narrow_conv2d_space,
      narrow_conv2d_apply,
      narrow_conv2d_fallback,
      "Convolution to a few channels, such as an image. Vectors run along the input channels; their lanes are added up at the end.",
      kDirectConv,
      nullptr,
      narrow_conv2d_rows_suit};
}

}  // namespace tw::space::cpu
