// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::cpu {

/// Grouped convolution over [N, C, H, W] by blocks of channels.
bool grouped_conv2d_nchwc_matches(const te::Dag& dag, const Target& target);
ConfigSpace grouped_conv2d_nchwc_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> grouped_conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity grouped_conv2d_nchwc_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cpu
