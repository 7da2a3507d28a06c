// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::x86 {

/// AutoTVM's dense_nopack.x86: weights as they are, a vector of partial sums for each result.
bool dense_nopack_matches(const te::Dag& dag, const Target& target);
ConfigSpace dense_nopack_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> dense_nopack_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity dense_nopack_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::x86
