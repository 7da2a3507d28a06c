// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/conv.h"

namespace tw::space::cuda {

namespace {

const ConvKnobs& conv1d_ncw_knobs() {
  static const ConvKnobs k{
      .tag = "conv1d", .axes = {"tile_f", "tile_x"}, .reduce = {"tile_rc"}, .unroll = {64, 512, 1500}, .batch = "tile_n", .channel_factors = 3};
  return k;
}

bool conv1d_ncw_matches(const te::Dag& dag, const Target&) { return conv_matches(dag, conv1d_ncw_knobs()); }
ConfigSpace conv1d_ncw_space(const te::Dag& dag, const Target& target) { return conv_space(dag, target, conv1d_ncw_knobs()); }
Expected<schedule::Schedule> conv1d_ncw_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) { return conv_apply(dag, e, conv1d_ncw_knobs()); }
ConfigEntity conv1d_ncw_fallback(const te::Dag& dag, const Target& target) { return conv_fallback(dag, target, conv1d_ncw_knobs()); }

}  // namespace

Template conv1d_ncw() {
  return {"conv1d_ncw.cuda", conv1d_ncw_matches,  conv1d_ncw_space,
          conv1d_ncw_apply,  conv1d_ncw_fallback, "AutoTVM's convolution along one dimension for GPUs, as conv2d_nchw.cuda does it along two.",
          kAutotvm};
}

}  // namespace tw::space::cuda
