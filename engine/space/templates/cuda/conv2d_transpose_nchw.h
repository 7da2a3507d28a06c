// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's transposed convolution for GPUs, over the taps that each result meets: no zeros are inserted.
namespace tw::space::cuda {

bool conv2d_transpose_nchw_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv2d_transpose_nchw_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv2d_transpose_nchw_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv2d_transpose_nchw_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
