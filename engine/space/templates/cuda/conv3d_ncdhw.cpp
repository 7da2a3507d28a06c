// SPDX-License-Identifier: Apache-2.0
// AutoTVM's direct convolution of volumes for GPUs. AutoTVM takes the depth of the window from its height; here it is the depth.
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/conv.h"

namespace tw::space::cuda {

namespace {

const ConvKnobs& conv3d_ncdhw_knobs() {
  static const ConvKnobs k{
      .tag = "conv3d", .axes = {"tile_f", "tile_d", "tile_y", "tile_x"}, .reduce = {"tile_rc", "tile_rd", "tile_ry", "tile_rx"}, .unroll = {0, 512, 1500}};
  return k;
}

bool conv3d_ncdhw_matches(const te::Dag& dag, const Target&) { return conv_matches(dag, conv3d_ncdhw_knobs()); }
ConfigSpace conv3d_ncdhw_space(const te::Dag& dag, const Target& target) { return conv_space(dag, target, conv3d_ncdhw_knobs()); }
Expected<schedule::Schedule> conv3d_ncdhw_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return conv_apply(dag, e, conv3d_ncdhw_knobs());
}
ConfigEntity conv3d_ncdhw_fallback(const te::Dag& dag, const Target& target) { return conv_fallback(dag, target, conv3d_ncdhw_knobs()); }

}  // namespace

Template conv3d_ncdhw() {
  return {"conv3d_ncdhw.cuda",
          conv3d_ncdhw_matches,
          conv3d_ncdhw_space,
          conv3d_ncdhw_apply,
          conv3d_ncdhw_fallback,
          "AutoTVM's direct convolution of volumes for GPUs, as conv2d_nchw.cuda does it for images.",
          kAutotvm};
}

}  // namespace tw::space::cuda
