// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::x86 {

/// AutoTVM's batch_matmul.x86: a vector of partial sums for each result of each matrix.
bool batch_matmul_matches(const te::Dag& dag, const Target& target);
ConfigSpace batch_matmul_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> batch_matmul_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity batch_matmul_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::x86
