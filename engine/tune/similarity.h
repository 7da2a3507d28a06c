// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/te/dag.h"

namespace tw::tune {

/// Equal for tasks that compute the same with other sizes of about the same cost: what one reaches says what another may. The computation without its extents
/// and constants, and floor(log_phi(FLOPs + 1)), phi = 1.618.
/// Source: the similarity groups of Ansor's task scheduler (Zheng et al., OSDI 2020), whose tags operators have to set by hand; these come from the dag.
std::string similarity_tag(const te::Dag& dag, int64_t flops);

}  // namespace tw::tune
