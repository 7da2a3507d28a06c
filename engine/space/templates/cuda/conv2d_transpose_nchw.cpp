// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/conv.h"

namespace tw::space::cuda {

namespace {

const ConvKnobs& conv2d_transpose_nchw_knobs() {
  static const ConvKnobs k{.tag = "conv2d_transpose",
                           .axes = {"tile_f", "tile_y", "tile_x"},
                           .reduce = {"tile_rc"},
                           .unroll = {64, 512, 1500},
                           .batch = "tile_n",
                           .channel_factors = 3,
                           .fuse_yx = true,
                           .transposed = true};
  return k;
}

bool conv2d_transpose_nchw_matches(const te::Dag& dag, const Target&) { return conv_matches(dag, conv2d_transpose_nchw_knobs()); }
ConfigSpace conv2d_transpose_nchw_space(const te::Dag& dag, const Target& target) { return conv_space(dag, target, conv2d_transpose_nchw_knobs()); }
Expected<schedule::Schedule> conv2d_transpose_nchw_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return conv_apply(dag, e, conv2d_transpose_nchw_knobs());
}
ConfigEntity conv2d_transpose_nchw_fallback(const te::Dag& dag, const Target& target) { return conv_fallback(dag, target, conv2d_transpose_nchw_knobs()); }

}  // namespace

Template conv2d_transpose_nchw() {
  return {"conv2d_transpose_nchw.cuda",
          conv2d_transpose_nchw_matches,
          conv2d_transpose_nchw_space,
          conv2d_transpose_nchw_apply,
          conv2d_transpose_nchw_fallback,
          "AutoTVM's transposed convolution for GPUs, as a sum over the taps that each output meets, tiled as conv2d_nchw.cuda does it.",
          kAutotvm};
}

}  // namespace tw::space::cuda
