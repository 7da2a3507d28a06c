// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's convolution along one dimension for GPUs.
namespace tw::space::cuda {

bool conv1d_ncw_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv1d_ncw_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv1d_ncw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv1d_ncw_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
