// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// AutoTVM's direct convolution with channels last for GPUs, data [N, H, W, C] and kernel [KH, KW, C, O]. Graphs have channels first: such tasks come from
/// AutoTVM's logs or are written by hand. AutoTVM shares the images of a batch out to the threads of `tile_n`, which for a single image leaves all but a few
/// idle; here they are the pixels of a row.
namespace tw::space::cuda {

bool conv2d_nhwc_matches(const te::Dag& dag, const Target& target);
ConfigSpace conv2d_nhwc_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> conv2d_nhwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity conv2d_nhwc_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
