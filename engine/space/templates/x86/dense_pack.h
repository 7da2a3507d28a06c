// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::x86 {

/// AutoTVM's dense_pack.x86: weights packed into panels of tile_x columns, two levels of tiles.
bool dense_pack_matches(const te::Dag& dag, const Target& target);
ConfigSpace dense_pack_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> dense_pack_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity dense_pack_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::x86
