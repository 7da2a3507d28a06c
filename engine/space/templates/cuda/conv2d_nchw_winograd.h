// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's convolution with a 3x3 window by Winograd's algorithm for GPUs, in three launches: tiles of the image are transformed, multiplied with the
/// transformed weights as a batch of matrix products, and transformed back.
namespace tw::space::cuda {

bool conv2d_nchw_winograd_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv2d_nchw_winograd_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv2d_nchw_winograd_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv2d_nchw_winograd_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
