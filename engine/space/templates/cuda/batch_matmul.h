// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's batched matrix product for GPUs: tiles of the result, operands in shared memory.
namespace tw::space::cuda {

bool batch_matmul_matches(const te::Dag& dag, const Target& target);
ConfigSpace batch_matmul_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> batch_matmul_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity batch_matmul_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
