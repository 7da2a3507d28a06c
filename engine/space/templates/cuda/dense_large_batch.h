// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's dense layer for many rows: tiles of the result, operands double-buffered in shared memory.
namespace tw::space::cuda {

bool dense_large_batch_matches(const te::Dag& dag, const Target& target);
ConfigSpace dense_large_batch_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> dense_large_batch_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity dense_large_batch_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
