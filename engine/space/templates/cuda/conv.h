// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/templates/cuda/tiles.h"

/// Direct convolution in one to three dimensions, images with channels first: what AutoTVM's CUDA templates of it share. Blocks take tiles of output channels
/// and pixels; tiles of the image and of the weights are in shared memory for a few input channels and taps at a time.
namespace tw::space::cuda {

/// What a template's space is made of.
struct ConvKnobs {
  std::string_view tag;             ///< of the operation
  std::vector<const char*> axes;    ///< knobs of output channels (of a group), then of each dimension of the image
  std::vector<const char*> reduce;  ///< of input channels, then of each dimension of the window; what has none is fetched whole
  std::vector<Json> unroll;         ///< candidates of auto_unroll_max_step
  const char* batch = nullptr;      ///< of images, if they are shared out
  const char* groups = nullptr;     ///< of groups of channels
  int channel_factors = 2;          ///< of the split of the input channels; all but the first are in shared memory at a time
  bool fuse_yx = false;             ///< whether a last knob puts both dimensions of the image side by side into the direction x
  bool transposed = false;          ///< strides are those of the result
};

bool conv_matches(const te::Dag& dag, const ConvKnobs& knobs);
ConfigSpace conv_space(const te::Dag& dag, const Target& target, const ConvKnobs& knobs);
Expected<schedule::Schedule> conv_apply(const te::DagPtr& dag, const ConfigEntity& e, const ConvKnobs& knobs);
ConfigEntity conv_fallback(const te::Dag& dag, const Target& target, const ConvKnobs& knobs);

}  // namespace tw::space::cuda
