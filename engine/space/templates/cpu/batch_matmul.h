// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::cpu {

/// Products of two activations, [..., M, K] times [..., K, N], both read where they lie: attention is made of these.
bool batch_matmul_matches(const te::Dag& dag, const Target& target);
ConfigSpace batch_matmul_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> batch_matmul_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity batch_matmul_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cpu
