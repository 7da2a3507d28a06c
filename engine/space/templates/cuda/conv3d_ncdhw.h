// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's direct convolution of volumes for GPUs. AutoTVM takes the depth of the window from its height; here it is the depth.
namespace tw::space::cuda {

bool conv3d_ncdhw_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv3d_ncdhw_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv3d_ncdhw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv3d_ncdhw_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
