// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Depthwise convolution with channels last for GPUs, data [N, H, W, C] and kernel [KH, KW, C, M] for M results of each channel. Graphs have channels first:
/// such tasks come from logs or are written by hand. TVM v0.9.0 has a fixed schedule of this name: threads take channels, and only the kernel passes through
/// shared memory. The knobs are those of its template for channels first, and one for what passes through shared memory.
namespace tw::space::cuda {

bool depthwise_conv2d_nhwc_matches(const te::Dag& dag, const Target& target);
ConfigSpace depthwise_conv2d_nhwc_space(const te::Dag& dag, const Target& target);
Expected<schedule::Schedule> depthwise_conv2d_nhwc_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e);
ConfigEntity depthwise_conv2d_nhwc_fallback(const te::Dag& dag, const Target& target);

}  // namespace tw::space::cuda
