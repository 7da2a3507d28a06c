// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/conv.h"

namespace tw::space::cuda {

namespace {

const ConvKnobs& depthwise_conv2d_nchw_knobs() {
  static const ConvKnobs k{.tag = "depthwise_conv2d", .axes = {"tile_f", "tile_y", "tile_x"}, .reduce = {}, .unroll = {0, 256, 1500}};
  return k;
}

bool depthwise_conv2d_nchw_matches(const te::Dag& dag, const Target&) { return conv_matches(dag, depthwise_conv2d_nchw_knobs()); }
ConfigSpace depthwise_conv2d_nchw_space(const te::Dag& dag, const Target& target) { return conv_space(dag, target, depthwise_conv2d_nchw_knobs()); }
Expected<schedule::Schedule> depthwise_conv2d_nchw_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return conv_apply(dag, e, depthwise_conv2d_nchw_knobs());
}
ConfigEntity depthwise_conv2d_nchw_fallback(const te::Dag& dag, const Target& target) { return conv_fallback(dag, target, depthwise_conv2d_nchw_knobs()); }

}  // namespace

Template depthwise_conv2d_nchw() {
  return {"depthwise_conv2d_nchw.cuda",
          depthwise_conv2d_nchw_matches,
          depthwise_conv2d_nchw_space,
          depthwise_conv2d_nchw_apply,
          depthwise_conv2d_nchw_fallback,
          "AutoTVM's depthwise convolution for GPUs. A block fetches its part of the image, with what the window reaches beyond it, and its weights once.",
          kAutotvm};
}

}  // namespace tw::space::cuda
