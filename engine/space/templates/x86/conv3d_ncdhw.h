// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::x86 {

/// AutoTVM's conv3d_ncdhw.x86: blocks of tile_ic input and tile_oc output channels, a register tile of at most 8 pixels.
bool conv3d_ncdhw_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv3d_ncdhw_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv3d_ncdhw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity conv3d_ncdhw_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::x86
