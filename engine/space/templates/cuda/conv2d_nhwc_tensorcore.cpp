// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/conv_tensorcore.h"

namespace tw::space::cuda {

namespace {

bool conv2d_nhwc_tensorcore_matches(const te::Dag& dag, const Target& target) { return conv_tensorcore_matches(dag, target, "conv2d_nhwc"); }
ConfigSpace conv2d_nhwc_tensorcore_space(const te::Dag& dag, const Target& target) { return conv_tensorcore_space(dag, target, "conv2d_nhwc"); }
Expected<schedule::Schedule> conv2d_nhwc_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return conv_tensorcore_apply(dag, target, e, "conv2d_nhwc");
}
ConfigEntity conv2d_nhwc_tensorcore_fallback(const te::Dag& dag, const Target& target) { return conv_tensorcore_fallback(dag, target, "conv2d_nhwc"); }

}  // namespace

Template conv2d_nhwc_tensorcore() {
  return {"conv2d_nhwc_tensorcore.cuda",
          conv2d_nhwc_tensorcore_matches,
          conv2d_nhwc_tensorcore_space,
          conv2d_nhwc_tensorcore_apply,
          conv2d_nhwc_tensorcore_fallback,
          "Convolution with channels last for tensor cores, as conv2d_nchw_tensorcore.cuda does it; channels are copied in vectors.",
          kImplicitGemm};
}

}  // namespace tw::space::cuda
