// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's depthwise convolution for GPUs: tiles are fetched once a block.
namespace tw::space::cuda {

bool depthwise_conv2d_nchw_matches(const te::Dag& dag, const Target& target);
ConfigSpace depthwise_conv2d_nchw_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> depthwise_conv2d_nchw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity depthwise_conv2d_nchw_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
