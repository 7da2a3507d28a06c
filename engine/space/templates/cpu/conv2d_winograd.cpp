// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/winograd_conv.h"

namespace tw::space::cpu {

namespace {

std::optional<WinogradConv> conv2d_winograd_of(const te::Dag& dag, const Target& target) { return find_winograd_conv(dag, target, "conv2d"); }

bool conv2d_winograd_matches(const te::Dag& dag, const Target& target) { return conv2d_winograd_of(dag, target).has_value(); }

ConfigSpace conv2d_winograd_space(const te::Dag& dag, const Target& target) { return winograd_conv_space(*conv2d_winograd_of(dag, target), target); }

ConfigEntity conv2d_winograd_fallback(const te::Dag& dag, const Target& target) { return winograd_conv_fallback(*conv2d_winograd_of(dag, target), target); }

Expected<schedule::Schedule> conv2d_winograd_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return winograd_conv_apply(dag, *conv2d_winograd_of(*dag, target), target, e);
}

}  // namespace

Template conv2d_winograd() {
  return {"conv2d_winograd.cpu",
          conv2d_winograd_matches,
          conv2d_winograd_space,
          conv2d_winograd_apply,
          conv2d_winograd_fallback,
          "Convolution with a 3x3 window by Winograd's algorithm: tiles are transformed, multiplied point by point as small matrix products, and transformed "
          "back, with 2.25 or 4 times fewer multiplications. Weights are transformed ahead of time.",
          "Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016"};
}

}  // namespace tw::space::cpu
