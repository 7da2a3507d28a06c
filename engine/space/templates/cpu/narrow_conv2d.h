// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::cpu {

/// Convolutions and transposed convolutions to a few channels, such as images: vectors run along the channels that are summed.
bool narrow_conv2d_matches(const te::Dag& dag, const Target& target);
ConfigSpace narrow_conv2d_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> narrow_conv2d_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity narrow_conv2d_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cpu
