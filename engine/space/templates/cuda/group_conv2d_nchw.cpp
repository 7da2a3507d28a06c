// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/group_conv2d_nchw.h"

#include "engine/space/templates/cuda/conv.h"

namespace tw::space::cuda {

namespace {

const ConvKnobs& group_conv2d_nchw_knobs() {
  static const ConvKnobs k{.tag = "grouped_conv2d",
                           .axes = {"tile_f", "tile_y", "tile_x"},
                           .reduce = {"tile_rc", "tile_ry", "tile_rx"},
                           .unroll = {0, 512, 1500},
                           .batch = "tile_n",
                           .groups = "tile_g",
                           .fuse_yx = true};
  return k;
}

}  // namespace

bool group_conv2d_nchw_matches(const te::Dag& dag, const Target&) { return conv_matches(dag, group_conv2d_nchw_knobs()); }
ConfigSpace group_conv2d_nchw_space(const te::Dag& dag, const Target& target) { return conv_space(dag, target, group_conv2d_nchw_knobs()); }
Expected<schedule::Schedule> group_conv2d_nchw_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return conv_apply(dag, e, group_conv2d_nchw_knobs());
}
ConfigEntity group_conv2d_nchw_fallback(const te::Dag& dag, const Target& target) { return conv_fallback(dag, target, group_conv2d_nchw_knobs()); }

}  // namespace tw::space::cuda
