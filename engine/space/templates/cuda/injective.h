// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Elementwise kernels, copies and transposes on GPUs: what the schedule by rule leaves to choose, as a space. AutoTVM has no template for them.
namespace tw::space::cuda {

bool injective_matches(const te::Dag& dag, const Target& target);
ConfigSpace injective_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> injective_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity injective_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
