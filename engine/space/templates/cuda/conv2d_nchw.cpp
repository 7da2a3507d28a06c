// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/conv.h"

namespace tw::space::cuda {

namespace {

const ConvKnobs& conv2d_nchw_knobs() {
  static const ConvKnobs k{.tag = "conv2d", .axes = {"tile_f", "tile_y", "tile_x"}, .reduce = {"tile_rc", "tile_ry", "tile_rx"}, .unroll = {0, 512, 1500}};
  return k;
}

bool conv2d_nchw_matches(const te::Dag& dag, const Target&) { return conv_matches(dag, conv2d_nchw_knobs()); }
ConfigSpace conv2d_nchw_space(const te::Dag& dag, const Target& target) { return conv_space(dag, target, conv2d_nchw_knobs()); }
Expected<schedule::Schedule> conv2d_nchw_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) { return conv_apply(dag, e, conv2d_nchw_knobs()); }
ConfigEntity conv2d_nchw_fallback(const te::Dag& dag, const Target& target) { return conv_fallback(dag, target, conv2d_nchw_knobs()); }

}  // namespace

Template conv2d_nchw() {
  return {"conv2d_nchw.cuda",
          conv2d_nchw_matches,
          conv2d_nchw_space,
          conv2d_nchw_apply,
          conv2d_nchw_fallback,
          "AutoTVM's direct convolution for GPUs. Threads of a block fetch tiles of image and weights into shared memory together; each sums up a few channels "
          "of a few pixels in registers.",
          kAutotvm};
}

}  // namespace tw::space::cuda
