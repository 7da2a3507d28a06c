// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's convolution in groups of channels for GPUs. AutoTVM splits the rows of the window by the knob of its columns and the other way round; here each
/// has its own.
namespace tw::space::cuda {

bool group_conv2d_nchw_matches(const te::Dag& dag, const Target& target);
ConfigSpace group_conv2d_nchw_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> group_conv2d_nchw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity group_conv2d_nchw_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
