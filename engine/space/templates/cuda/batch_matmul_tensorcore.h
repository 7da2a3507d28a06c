// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Tensor cores for products of two activations; tensorcore.h.
namespace tw::space::cuda {

bool batch_matmul_tensorcore_matches(const te::Dag& dag, const Target& target);
ConfigSpace batch_matmul_tensorcore_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> batch_matmul_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity batch_matmul_tensorcore_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
