// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

namespace tw::space::cpu {

/// Transposed convolution over blocks of channels with weights packed ahead of time.
bool conv2d_transpose_nchwc_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv2d_transpose_nchwc_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv2d_transpose_nchwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv2d_transpose_nchwc_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cpu
