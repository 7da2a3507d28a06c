// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/conv3d_ncdhw.h"

#include "engine/space/templates/cuda/conv.h"

namespace tw::space::cuda {

namespace {

const ConvKnobs& conv3d_ncdhw_knobs() {
  static const ConvKnobs k{
      .tag = "conv3d", .axes = {"tile_f", "tile_d", "tile_y", "tile_x"}, .reduce = {"tile_rc", "tile_rd", "tile_ry", "tile_rx"}, .unroll = {0, 512, 1500}};
  return k;
}

}  // namespace

bool conv3d_ncdhw_matches(const te::Dag& dag, const Target&) { return conv_matches(dag, conv3d_ncdhw_knobs()); }
ConfigSpace conv3d_ncdhw_space(const te::Dag& dag, const Target& target) { return conv_space(dag, target, conv3d_ncdhw_knobs()); }
Expected<schedule::Schedule> conv3d_ncdhw_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  return conv_apply(dag, e, conv3d_ncdhw_knobs());
}
ConfigEntity conv3d_ncdhw_fallback(const te::Dag& dag, const Target& target) { return conv_fallback(dag, target, conv3d_ncdhw_knobs()); }

}  // namespace tw::space::cuda
