// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's dense layer for a few rows: a block for every element of the result, whose threads sum up parts of it.
namespace tw::space::cuda {

bool dense_small_batch_matches(const te::Dag& dag, const Target& target);
ConfigSpace dense_small_batch_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> dense_small_batch_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity dense_small_batch_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
