// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::x86 {

/// AutoTVM's conv2d_NCHWc.x86: blocks of tile_ic input and tile_oc output channels, a register tile of tile_ow pixels.
bool conv2d_nchwc_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv2d_nchwc_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv2d_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity conv2d_nchwc_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::x86
