// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Tensor cores for convolutions with channels last; conv_tensorcore.h.
namespace tw::space::cuda {

bool conv2d_nhwc_tensorcore_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv2d_nhwc_tensorcore_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv2d_nhwc_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv2d_nhwc_tensorcore_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
