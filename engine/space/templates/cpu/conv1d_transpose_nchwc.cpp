// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/transposed_conv.h"
#include "engine/space/templates/templates.h"

namespace tw::space::cpu {

namespace {

constexpr const char* kConv1dTransposeTag = "conv1d_transpose";

bool conv1d_transpose_nchwc_matches(const te::Dag& dag, const Target& target) { return find_transposed_conv(dag, target, kConv1dTransposeTag).has_value(); }

ConfigSpace conv1d_transpose_nchwc_space(const te::Dag& dag, const Target& target) {
  return transposed_conv_space(dag, *find_transposed_conv(dag, target, kConv1dTransposeTag), target);
}

ConfigEntity conv1d_transpose_nchwc_fallback(const te::Dag& dag, const Target& target) {
  return transposed_conv_fallback(dag, *find_transposed_conv(dag, target, kConv1dTransposeTag), target);
}

Expected<schedule::Schedule> conv1d_transpose_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return transposed_conv_apply(dag, *find_transposed_conv(*dag, target, kConv1dTransposeTag), target, e);
}

}  // namespace

Template conv1d_transpose_nchwc() {
  return {"conv1d_transpose_nchwc.cpu",
          conv1d_transpose_nchwc_matches,
          conv1d_transpose_nchwc_space,
          conv1d_transpose_nchwc_apply,
          conv1d_transpose_nchwc_fallback,
          "Transposed convolution along one dimension over blocks of channels, as conv2d_transpose_nchwc.cpu does it along two.",
          "Shi et al., Is the deconvolution layer the same as a convolutional layer?, arXiv:1609.07009, 2016"};
}

}  // namespace tw::space::cpu
