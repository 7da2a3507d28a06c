// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::cpu {

/// Convolution over [N, C, W] by blocks of channels.
bool conv1d_nchwc_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv1d_nchwc_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv1d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv1d_nchwc_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cpu
