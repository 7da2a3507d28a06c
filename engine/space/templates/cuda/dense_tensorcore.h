// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Tensor cores for dense layers; tensorcore.h.
namespace tw::space::cuda {

bool dense_tensorcore_matches(const te::Dag& dag, const Target& target);
ConfigSpace dense_tensorcore_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> dense_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity dense_tensorcore_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
