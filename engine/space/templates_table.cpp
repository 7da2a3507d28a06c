// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "engine/space/template.h"
#include "engine/space/templates/cpu/batch_matmul.h"
#include "engine/space/templates/cpu/conv1d_nchwc.h"
#include "engine/space/templates/cpu/conv2d_nchwc.h"
#include "engine/space/templates/cpu/conv2d_transpose_nchwc.h"
#include "engine/space/templates/cpu/conv2d_winograd.h"
#include "engine/space/templates/cpu/conv3d_nchwc.h"
#include "engine/space/templates/cpu/dense_pack.h"
#include "engine/space/templates/cpu/depthwise_conv2d_nchwc.h"
#include "engine/space/templates/cpu/grouped_conv2d_nchwc.h"
#include "engine/space/templates/cpu/narrow_conv2d.h"
#include "engine/space/templates/cpu/reductions.h"
#include "engine/space/templates/cuda/batch_matmul.h"
#include "engine/space/templates/cuda/batch_matmul_tensorcore.h"
#include "engine/space/templates/cuda/conv1d_ncw.h"
#include "engine/space/templates/cuda/conv2d_nchw.h"
#include "engine/space/templates/cuda/conv2d_nchw_tensorcore.h"
#include "engine/space/templates/cuda/conv2d_nchw_winograd.h"
#include "engine/space/templates/cuda/conv2d_nhwc.h"
#include "engine/space/templates/cuda/conv2d_nhwc_tensorcore.h"
#include "engine/space/templates/cuda/conv2d_transpose_nchw.h"
#include "engine/space/templates/cuda/conv3d_ncdhw.h"
#include "engine/space/templates/cuda/dense_large_batch.h"
#include "engine/space/templates/cuda/dense_small_batch.h"
#include "engine/space/templates/cuda/dense_tensorcore.h"
#include "engine/space/templates/cuda/depthwise_conv2d_nchw.h"
#include "engine/space/templates/cuda/depthwise_conv2d_nhwc.h"
#include "engine/space/templates/cuda/gemm.h"
#include "engine/space/templates/cuda/group_conv2d_nchw.h"
#include "engine/space/templates/cuda/injective.h"
#include "engine/space/templates/cuda/reductions.h"

namespace tw::space {

namespace {

constexpr const char* kDirect =
    "Georganas et al., Anatomy of high-performance deep learning convolutions on SIMD architectures, SC 2018; Liu et al., NeoCPU, USENIX ATC 2019";

constexpr const char* kAutotvm = "Chen et al., Learning to optimize tensor programs, NeurIPS 2018; TVM v0.9.0 (names, knobs and order)";

constexpr const char* kImplicitGemm = "Chetlur et al., cuDNN, arXiv:1410.0759, 2014 (implicit GEMM); TVM v0.9.0 (names of knobs)";

const std::array<Template, 11> kTemplates{{
    {"dense_pack.cpu", cpu::dense_pack_matches, cpu::dense_pack_space, cpu::dense_pack_apply, cpu::dense_pack_fallback,
     "Matrix product with constant weights, packed ahead of time into panels a few vectors wide. A register tile of rows times columns is summed over the "
     "whole "
     "reduction before it is stored, with the elementwise work that follows applied on the way out.",
     "Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008"},
    {"conv2d_nchwc.cpu", cpu::conv2d_nchwc_matches, cpu::conv2d_nchwc_space, cpu::conv2d_nchwc_apply, cpu::conv2d_nchwc_fallback,
     "Direct convolution over tensors stored in blocks of channels. One vector holds a block of output channels; a register tile of neighbouring pixels times "
     "channel blocks shares the loads of weights and inputs.",
     kDirect},
    {"conv2d_winograd.cpu", cpu::conv2d_winograd_matches, cpu::conv2d_winograd_space, cpu::conv2d_winograd_apply, cpu::conv2d_winograd_fallback,
     "Convolution with a 3x3 window by Winograd's algorithm: tiles are transformed, multiplied point by point as small matrix products, and transformed back, "
     "with "
     "2.25 or 4 times fewer multiplications. Weights are transformed ahead of time.",
     "Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016"},
    {"conv2d_transpose_nchwc.cpu", cpu::conv2d_transpose_nchwc_matches, cpu::conv2d_transpose_nchwc_space, cpu::conv2d_transpose_nchwc_apply,
     cpu::conv2d_transpose_nchwc_fallback,
     "Transposed convolution over blocks of channels, as a sum over the taps that each output meets: no zeros are inserted. A register tile spans whole "
     "strides, so "
     "that its columns meet the same taps everywhere.",
     "Shi et al., Is the deconvolution layer the same as a convolutional layer?, arXiv:1609.07009, 2016"},
    {"depthwise_conv2d_nchwc.cpu", cpu::depthwise_conv2d_nchwc_matches, cpu::depthwise_conv2d_nchwc_space, cpu::depthwise_conv2d_nchwc_apply,
     cpu::depthwise_conv2d_nchwc_fallback,
     "Depthwise convolution over blocks of channels. With the window written out, neighbouring taps and rows reuse inputs from registers.",
     "Zhang et al., High performance depthwise and pointwise convolutions on mobile devices, AAAI 2020"},
    {"conv1d_nchwc.cpu", cpu::conv1d_nchwc_matches, cpu::conv1d_nchwc_space, cpu::conv1d_nchwc_apply, cpu::conv1d_nchwc_fallback,
     "Direct convolution along one dimension over blocks of channels, as conv2d_nchwc.cpu does it along two.", kDirect},
    {"conv3d_nchwc.cpu", cpu::conv3d_nchwc_matches, cpu::conv3d_nchwc_space, cpu::conv3d_nchwc_apply, cpu::conv3d_nchwc_fallback,
     "Direct convolution along three dimensions over blocks of channels, as conv2d_nchwc.cpu does it along two.", kDirect},
    {"grouped_conv2d_nchwc.cpu", cpu::grouped_conv2d_nchwc_matches, cpu::grouped_conv2d_nchwc_space, cpu::grouped_conv2d_nchwc_apply,
     cpu::grouped_conv2d_nchwc_fallback, "Direct convolution in groups of channels. A vector of output channels lies in one group.", kDirect},
    {"narrow_conv2d.cpu", cpu::narrow_conv2d_matches, cpu::narrow_conv2d_space, cpu::narrow_conv2d_apply, cpu::narrow_conv2d_fallback,
     "Convolution or transposed convolution to a few channels, such as an image. Vectors run along the input channels; their lanes are added up at the end.",
     kDirect},
    {"batch_matmul.cpu", cpu::batch_matmul_matches, cpu::batch_matmul_space, cpu::batch_matmul_apply, cpu::batch_matmul_fallback,
     "Matrix products of two activations, one a batch entry. Nothing can be packed ahead of time: a register tile of rows times whole vectors of columns reads "
     "both operands where they lie.",
     "Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008"},
    {"reductions.cpu", cpu::reductions_matches, cpu::reductions_space, cpu::reductions_apply, cpu::reductions_fallback,
     "Pools, softmax, norms and sums along any axes, scheduled by rule: how many vectors are summed up side by side, what is written out and how the work is "
     "shared out are open. Images are in blocks of channels, as convolutions leave them.",
     "Fog, Optimizing software in C++, Technical University of Denmark (several accumulators hide the latency of additions)", cpu::reductions_in_layouts},
}};

/// For GPUs: AutoTVM's names, knobs and order, which its logs decode to; schedules of our own. gemm.cuda and the last two are ours.
const std::array<Template, 19> kGpuTemplates{{
    {"conv2d_nchw.cuda", cuda::conv2d_nchw_matches, cuda::conv2d_nchw_space, cuda::conv2d_nchw_apply, cuda::conv2d_nchw_fallback,
     "AutoTVM's direct convolution for GPUs. Threads of a block fetch tiles of image and weights into shared memory together; each sums up a few channels of a "
     "few pixels in registers.",
     kAutotvm},
    {"conv2d_nhwc.gpu", cuda::conv2d_nhwc_matches, cuda::conv2d_nhwc_space, cuda::conv2d_nhwc_apply, cuda::conv2d_nhwc_fallback,
     "AutoTVM's direct convolution with channels last for GPUs. Blocks take pixels of a row and output channels; threads fetch vectors of channels.", kAutotvm},
    {"depthwise_conv2d_nchw.cuda", cuda::depthwise_conv2d_nchw_matches, cuda::depthwise_conv2d_nchw_space, cuda::depthwise_conv2d_nchw_apply,
     cuda::depthwise_conv2d_nchw_fallback,
     "AutoTVM's depthwise convolution for GPUs. A block fetches its part of the image, with what the window reaches beyond it, and its weights once.",
     kAutotvm},
    {"depthwise_conv2d_nhwc.cuda", cuda::depthwise_conv2d_nhwc_matches, cuda::depthwise_conv2d_nhwc_space, cuda::depthwise_conv2d_nhwc_apply,
     cuda::depthwise_conv2d_nhwc_fallback,
     "Depthwise convolution with channels last for GPUs. Threads take vectors of neighbouring channels of a few pixels; whether image and kernel pass through "
     "shared memory is open. TVM's schedule of this name has no knobs: these are those of channels first.",
     "TVM v0.9.0 (name, and that threads take channels)"},
    {"group_conv2d_nchw.cuda", cuda::group_conv2d_nchw_matches, cuda::group_conv2d_nchw_space, cuda::group_conv2d_nchw_apply, cuda::group_conv2d_nchw_fallback,
     "AutoTVM's convolution in groups of channels for GPUs, as conv2d_nchw.cuda does it for one group.", kAutotvm},
    {"conv2d_transpose_nchw.cuda", cuda::conv2d_transpose_nchw_matches, cuda::conv2d_transpose_nchw_space, cuda::conv2d_transpose_nchw_apply,
     cuda::conv2d_transpose_nchw_fallback,
     "AutoTVM's transposed convolution for GPUs, as a sum over the taps that each output meets, tiled as conv2d_nchw.cuda does it.", kAutotvm},
    {"conv1d_ncw.cuda", cuda::conv1d_ncw_matches, cuda::conv1d_ncw_space, cuda::conv1d_ncw_apply, cuda::conv1d_ncw_fallback,
     "AutoTVM's convolution along one dimension for GPUs, as conv2d_nchw.cuda does it along two.", kAutotvm},
    {"conv3d_ncdhw.cuda", cuda::conv3d_ncdhw_matches, cuda::conv3d_ncdhw_space, cuda::conv3d_ncdhw_apply, cuda::conv3d_ncdhw_fallback,
     "AutoTVM's direct convolution of volumes for GPUs, as conv2d_nchw.cuda does it for images.", kAutotvm},
    {"dense_small_batch.gpu", cuda::dense_small_batch_matches, cuda::dense_small_batch_space, cuda::dense_small_batch_apply, cuda::dense_small_batch_fallback,
     "AutoTVM's dense layer for a few rows on GPUs. A block computes one element; its threads sum up parts and combine them.", kAutotvm},
    {"dense_large_batch.gpu", cuda::dense_large_batch_matches, cuda::dense_large_batch_space, cuda::dense_large_batch_apply, cuda::dense_large_batch_fallback,
     "AutoTVM's dense layer for many rows on GPUs. Blocks compute tiles of the result; the next tiles of the operands are fetched while these are multiplied.",
     kAutotvm},
    {"batch_matmul.cuda", cuda::batch_matmul_matches, cuda::batch_matmul_space, cuda::batch_matmul_apply, cuda::batch_matmul_fallback,
     "AutoTVM's batched matrix product for GPUs. Blocks compute tiles of the result from tiles of both operands in shared memory.", kAutotvm},
    {"gemm.cuda", cuda::gemm_matches, cuda::gemm_space, cuda::gemm_apply, cuda::gemm_fallback,
     "Convolutions and dense layers as products of matrices on GPUs, gathered from the image tile by tile: pixels of all rows side by side, terms of all "
     "channels and "
     "taps in one sum, which several blocks may share.",
     "Chetlur et al., cuDNN, arXiv:1410.0759, 2014; NVIDIA CUTLASS 3.5, documentation of efficient GEMM (parallel split-K)"},
    {"conv2d_nchw_winograd.cuda", cuda::conv2d_nchw_winograd_matches, cuda::conv2d_nchw_winograd_space, cuda::conv2d_nchw_winograd_apply,
     cuda::conv2d_nchw_winograd_fallback,
     "AutoTVM's convolution with a 3x3 window by Winograd's algorithm for GPUs, in three launches: tiles are transformed, multiplied point by point as matrix "
     "products, and transformed back, with 2.25 or 4 times fewer multiplications. Weights are transformed ahead of time.",
     "Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016; TVM v0.9.0 (names, knobs and order)"},
    {"conv2d_nchw_tensorcore.cuda", cuda::conv2d_nchw_tensorcore_matches, cuda::conv2d_nchw_tensorcore_space, cuda::conv2d_nchw_tensorcore_apply,
     cuda::conv2d_nchw_tensorcore_fallback,
     "Convolution for tensor cores as a product of matrices. Each row holds what lies under the window at one place; tiles of it are gathered from the image "
     "into shared memory while earlier ones are multiplied.",
     kImplicitGemm},
    {"conv2d_nhwc_tensorcore.cuda", cuda::conv2d_nhwc_tensorcore_matches, cuda::conv2d_nhwc_tensorcore_space, cuda::conv2d_nhwc_tensorcore_apply,
     cuda::conv2d_nhwc_tensorcore_fallback,
     "Convolution with channels last for tensor cores, as conv2d_nchw_tensorcore.cuda does it; channels are copied in vectors.", kImplicitGemm},
    {"dense_tensorcore.cuda", cuda::dense_tensorcore_matches, cuda::dense_tensorcore_space, cuda::dense_tensorcore_apply, cuda::dense_tensorcore_fallback,
     "AutoTVM's dense layer for tensor cores, of 16-bit floats, bytes, or float32 rounded to TF32. Warps compute tiles of the result from tiles that are "
     "copied ahead.",
     kAutotvm},
    {"batch_matmul_tensorcore.cuda", cuda::batch_matmul_tensorcore_matches, cuda::batch_matmul_tensorcore_space, cuda::batch_matmul_tensorcore_apply,
     cuda::batch_matmul_tensorcore_fallback, "AutoTVM's product of two activations for tensor cores, as dense_tensorcore.cuda does it.", kAutotvm},
    {"reductions.cuda", cuda::reductions_matches, cuda::reductions_space, cuda::reductions_apply, cuda::reductions_fallback,
     "Softmax, norms, sums and pools in one kernel, scheduled by rule: the threads of a row reduce it together, or each thread has results of its own. How "
     "many "
     "threads share a row, how many rows a block has, and whether what several stages read stays in shared memory are open.",
     "Luitjens, Faster parallel reductions on Kepler, NVIDIA 2014"},
    {"injective.cuda", cuda::injective_matches, cuda::injective_space, cuda::injective_apply, cuda::injective_fallback,
     "Elementwise kernels and copies in vectors of up to 16 bytes; transposes through tiles in shared memory. How many threads a block has and how many "
     "elements a thread are open.",
     "Ruetsch and Micikevicius, Optimizing matrix transpose in CUDA, NVIDIA 2009"},
}};

}  // namespace

std::span<const Template> templates() { return kTemplates; }
std::span<const Template> gpu_templates() { return kGpuTemplates; }

std::vector<const Template*> alternatives(const te::Dag& dag, const Target& target) {
  std::vector<const Template*> out;
  for (const Template& t : target.gpu ? gpu_templates() : templates())
    if (t.matches(dag, target)) out.push_back(&t);
  return out;
}

const Template* find_template(const te::Dag& dag, const Target& target) {
  const std::vector<const Template*> all = alternatives(dag, target);
  return all.empty() ? nullptr : all.front();
}

const Template* find_template(const te::Dag& dag, const Target& target, std::string_view name) {
  const std::vector<const Template*> found = find_templates(dag, target);
  const auto it = std::find_if(found.begin(), found.end(), [&](const Template* t) { return name == t->name; });
  return it == found.end() ? nullptr : *it;
}

std::vector<const Template*> find_templates(const te::Dag& dag, const Target& target) {
  std::vector<const Template*> found = alternatives(dag, target);
  for (const Template& t : autotvm_templates())
    if (target.kind == "llvm" && t.matches(dag, target)) found.push_back(&t);
  return found;
}

}  // namespace tw::space
