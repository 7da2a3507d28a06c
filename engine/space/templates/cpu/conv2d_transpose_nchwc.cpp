// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/transposed_conv.h"
#include "engine/space/templates/templates.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kConv2dTransposeTag = "conv2d_transpose";

bool conv2d_transpose_nchwc_matches(const te::Dag& dag, const Target& target) { return find_transposed_conv(dag, target, kConv2dTransposeTag).has_value(); }

ConfigSpace conv2d_transpose_nchwc_space(const te::Dag& dag, const Target& target) {
  return transposed_conv_space(dag, *find_transposed_conv(dag, target, kConv2dTransposeTag), target);
}

ConfigEntity conv2d_transpose_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return transposed_conv_fallback(dag, *find_transposed_conv(dag, target, kConv2dTransposeTag), target);
}

Expected<schedule::Schedule> conv2d_transpose_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return transposed_conv_apply(dag, *find_transposed_conv(*dag, target, kConv2dTransposeTag), target, e);
}

}  // namespace

Template conv2d_transpose_nchwc() {
  return {"conv2d_transpose_nchwc.cpu",
          conv2d_transpose_nchwc_matches,
          conv2d_transpose_nchwc_space,
          conv2d_transpose_nchwc_apply,
          conv2d_transpose_nchwc_fallback,
          "Transposed convolution over blocks of channels, as a sum over the taps that each output meets: no zeros are inserted. A register tile spans whole "
          "strides, so that its columns meet the same taps everywhere.",
          "Shi et al., Is the deconvolution layer the same as a convolutional layer?, arXiv:1609.07009, 2016"};
}

}  // namespace tw::space::cpu
