// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/winograd_conv.h"

namespace tw::space::cpu {

namespace {

std::optional<WinogradConv> conv3d_winograd_of(const te::Dag& dag, const Target& target) { return find_winograd_conv(dag, target, "conv3d"); }

bool conv3d_winograd_matches(const te::Dag& dag, const Target& target) { return conv3d_winograd_of(dag, target).has_value(); }

ConfigSpace conv3d_winograd_space(const te::Dag& dag, const Target& target) { return winograd_conv_space(*conv3d_winograd_of(dag, target), target); }

ConfigEntity conv3d_winograd_fallback(const te::Dag& dag, const Target& target) { return winograd_conv_fallback(*conv3d_winograd_of(dag, target), target); }

Expected<schedule::Schedule> conv3d_winograd_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return winograd_conv_apply(dag, *conv3d_winograd_of(*dag, target), target, e);
}

}  // namespace

Template conv3d_winograd() {
  return {"conv3d_winograd.cpu",
          conv3d_winograd_matches,
          conv3d_winograd_space,
          conv3d_winograd_apply,
          conv3d_winograd_fallback,
          "Convolution of volumes whose window is 3x3 in each plane, as conv2d_winograd.cpu computes it in the plane: the products of the planes' points are summed "
          "over the planes that the window covers.",
          "Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016"};
}

}  // namespace tw::space::cpu
