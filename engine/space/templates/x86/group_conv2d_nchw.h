// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::x86 {

/// AutoTVM's group_conv2d_nchw.x86: as conv2d_NCHWc.x86, group by group. Points whose blocks cross groups are invalid, where AutoTVM computes wrong results.
bool group_conv2d_nchw_matches(const te::Dag& dag, const Target& target);
ConfigSpace group_conv2d_nchw_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> group_conv2d_nchw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& entity);
ConfigEntity group_conv2d_nchw_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::x86
