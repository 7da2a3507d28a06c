// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Pools, softmax, norms, sums and maxima along any axes: what the schedule by rule leaves to choose, as a space.
namespace tw::space::cpu {

bool reductions_matches(const te::Dag& dag, const Target& target);
ConfigSpace reductions_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> reductions_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
Expected<schedule::Schedule> reductions_in_layouts(const te::DagPtr& dag, const Target& target, const ConfigEntity& e,
                                                   const std::vector<schedule::LayoutStep>& layouts);
ConfigEntity reductions_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cpu
