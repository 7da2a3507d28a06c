// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// What the convolutions for tensor cores share: a product of matrices with a row for each place of the window, gathered from the image a tile at a time.
/// Any window, stride, padding and dilation, in one group of channels. Tiles need not divide the image or the channels; their surplus is zeros. Images over
/// [N, C, H, W] are asked for, and stored, with the channels innermost in memory where those are a multiple of eight, so that threads copy vectors of them.
/// Source: implicit GEMM, cuDNN (Chetlur et al., arXiv:1410.0759, 2014) and CUTLASS 2.x; knobs of AutoTVM's conv2d_nhwc_tensorcore.cuda, TVM v0.9.0, whose rows
/// are images.
namespace tw::space::cuda {

/// `tag` is conv2d, over [N, C, H, W] and [O, I, KH, KW], or conv2d_nhwc, over [N, H, W, C] and [KH, KW, I, O].
bool conv_tensorcore_matches(const te::Dag& dag, const Target& target, std::string_view tag);
ConfigSpace conv_tensorcore_space(const te::Dag& dag, const Target& target, std::string_view tag);
Expected<schedule::Schedule> conv_tensorcore_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e, std::string_view tag);
/// The shape of blocks with the least work of the busiest multiprocessor, surplus counted.
ConfigEntity conv_tensorcore_fallback(const te::Dag& dag, const Target& target, std::string_view tag);

}  // namespace tw::space::cuda
