// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/templates/cuda/tiles.h"

/// Direct convolution in one to three dimensions, images with channels first: what AutoTVM's CUDA templates of it share. Blocks take tiles of output channels
/// and pixels; tiles of the image and of the weights are in shared memory for a few input channels and taps at a time.
namespace tw::space::cuda {

/// Knob names of a template, one for each axis.
struct ConvKnobs {
  std::string_view tag;             ///< of the operation
  std::vector<const char*> axes;    ///< output channels, then each dimension of the image; the batch entry has none
  const char* batch = nullptr;      ///< or this one
  std::vector<const char*> reduce;  ///< input channels, then each dimension of the window
  std::vector<Json> unroll;
};

bool conv_matches(const te::Dag& dag, const ConvKnobs& knobs);
ConfigSpace conv_space(const te::Dag& dag, const Target& target, const ConvKnobs& knobs);
Expected<schedule::Schedule> conv_apply(const te::DagPtr& dag, const ConfigEntity& e, const ConvKnobs& knobs);
ConfigEntity conv_fallback(const te::Dag& dag, const Target& target, const ConvKnobs& knobs);

}  // namespace tw::space::cuda
