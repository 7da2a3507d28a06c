// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Direct convolution as a product of matrices whose columns are gathered tile by tile, with sums that several blocks may share.
namespace tw::space::cuda {

bool conv2d_nchw_im2col_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv2d_nchw_im2col_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv2d_nchw_im2col_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv2d_nchw_im2col_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
