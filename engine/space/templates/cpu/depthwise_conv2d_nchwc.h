// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::cpu {

/// Depthwise convolution over blocks of channels, a straight-line register tile.
bool depthwise_conv2d_nchwc_matches(const te::Dag& dag, const Target& target);
ConfigSpace depthwise_conv2d_nchwc_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> depthwise_conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity depthwise_conv2d_nchwc_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cpu
