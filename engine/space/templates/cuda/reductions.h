// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Softmax, norms, sums and pools on GPUs: what the schedule by rule leaves to choose, as a space. AutoTVM has no template for them.
namespace tw::space::cuda {

bool reductions_matches(const te::Dag& dag, const Target& target);
ConfigSpace reductions_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> reductions_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity reductions_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
