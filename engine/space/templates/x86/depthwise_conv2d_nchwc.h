// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::x86 {

/// AutoTVM's depthwise_conv2d_NCHWc.x86: blocks of channels, a register tile of tile_ow pixels.
bool depthwise_conv2d_nchwc_matches(const te::Dag& dag, const Target& target);
ConfigSpace depthwise_conv2d_nchwc_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> depthwise_conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity depthwise_conv2d_nchwc_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::x86
