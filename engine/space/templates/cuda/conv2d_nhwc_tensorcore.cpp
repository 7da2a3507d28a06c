// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/conv2d_nhwc_tensorcore.h"

#include "engine/space/templates/cuda/conv_tensorcore.h"

namespace tw::space::cuda {

bool conv2d_nhwc_tensorcore_matches(const te::Dag& dag, const Target& target) { return conv_tensorcore_matches(dag, target, "conv2d_nhwc"); }
ConfigSpace conv2d_nhwc_tensorcore_space(const te::Dag& dag, const Target& target) { return conv_tensorcore_space(dag, target, "conv2d_nhwc"); }
Expected<schedule::Schedule> conv2d_nhwc_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return conv_tensorcore_apply(dag, target, e, "conv2d_nhwc");
}
ConfigEntity conv2d_nhwc_tensorcore_fallback(const te::Dag& dag, const Target& target) { return conv_tensorcore_fallback(dag, target, "conv2d_nhwc"); }

}  // namespace tw::space::cuda
