// SPDX-License-Identifier: Apache-2.0
// AutoTVM's convolution in groups of channels for GPUs. AutoTVM splits the rows of the window by the knob of its columns and the other way round; here each
// has its own.
#include "engine/space/templates/templates.h"

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

bool group_conv2d_nchw_matches(const te::Dag& dag, const Target&) { return conv_matches(dag, group_conv2d_nchw_knobs()); }
ConfigSpace group_conv2d_nchw_space(const te::Dag& dag, const Target& target) { return conv_space(dag, target, group_conv2d_nchw_knobs()); }
Expected<schedule::Schedule> group_conv2d_nchw_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return conv_apply(dag, e, group_conv2d_nchw_knobs());
}
ConfigEntity group_conv2d_nchw_fallback(const te::Dag& dag, const Target& target) { return conv_fallback(dag, target, group_conv2d_nchw_knobs()); }

}  // namespace

Template group_conv2d_nchw() {
  return {"group_conv2d_nchw.cuda",
          group_conv2d_nchw_matches,
          group_conv2d_nchw_space,
          group_conv2d_nchw_apply,
          group_conv2d_nchw_fallback,
          "AutoTVM's convolution in groups of channels for GPUs, as conv2d_nchw.cuda does it for one group.",
          kAutotvm};
}

}  // namespace tw::space::cuda
