// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/conv_tensorcore.h"

namespace tw::space::cuda {

namespace {

bool conv2d_nchw_tensorcore_matches(const te::Dag& dag, const Target& target) { return conv_tensorcore_matches(dag, target, "conv2d"); }
ConfigSpace conv2d_nchw_tensorcore_space(const te::Dag& dag, const Target& target) { return conv_tensorcore_space(dag, target, "conv2d"); }
Expected<schedule::Schedule> conv2d_nchw_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return conv_tensorcore_apply(dag, target, e, "conv2d");
}
ConfigEntity conv2d_nchw_tensorcore_fallback(const te::Dag& dag, const Target& target) { return conv_tensorcore_fallback(dag, target, "conv2d"); }

}  // namespace

Template conv2d_nchw_tensorcore() {
  return {"conv2d_nchw_tensorcore.cuda",
          conv2d_nchw_tensorcore_matches,
          conv2d_nchw_tensorcore_space,
          conv2d_nchw_tensorcore_apply,
          conv2d_nchw_tensorcore_fallback,
          "Convolution for tensor cores as a product of matrices. Each row holds what lies under the window at one place; tiles of it are gathered from the "
          "image into shared memory while earlier ones are multiplied.",
          kImplicitGemm};
}

}  // namespace tw::space::cuda
