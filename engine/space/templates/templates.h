// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"

/// Every template. A line here declares one and puts it into its table: `x` is the function x(), which gives the row, in x.cpp of the folder that the namespace
/// is named after.
namespace tw::space {

/// For CPUs.
#define TW_CPU_TEMPLATES(X) \
  X(dense_pack)             \
  X(dense_bytes)            \
  X(conv2d_nchwc)           \
  X(conv2d_bytes)           \
  X(conv2d_transpose_nchwc) \
  X(conv1d_transpose_nchwc) \
  X(conv3d_transpose_nchwc) \
  X(narrow_conv2d)          \
  X(narrow_conv1d)          \
  X(narrow_conv3d)          \
  X(conv2d_winograd)        \
  X(depthwise_conv2d_nchwc) \
  X(depthwise_conv1d_nchwc) \
  X(depthwise_conv3d_nchwc) \
  X(conv1d_nchwc)           \
  X(conv3d_nchwc)           \
  X(conv3d_winograd)        \
  X(grouped_conv2d_nchwc)   \
  X(grouped_conv1d_nchwc)   \
  X(grouped_conv3d_nchwc)   \
  X(batch_matmul)           \
  X(attention)              \
  X(reductions)

/// For GPUs: AutoTVM's names, knobs and order, which its logs decode to; schedules of our own. gemm and the last two are ours.
#define TW_CUDA_TEMPLATES(X) \
  X(conv2d_nchw)             \
  X(conv2d_nhwc)             \
  X(depthwise_conv2d_nchw)   \
  X(depthwise_conv2d_nhwc)   \
  X(group_conv2d_nchw)       \
  X(conv2d_transpose_nchw)   \
  X(conv1d_ncw)              \
  X(conv3d_ncdhw)            \
  X(dense_small_batch)       \
  X(dense_large_batch)       \
  X(batch_matmul)            \
  X(gemm)                    \
  X(conv2d_nchw_winograd)    \
  X(conv2d_nchw_tensorcore)  \
  X(conv2d_nhwc_tensorcore)  \
  X(dense_tensorcore)        \
  X(batch_matmul_tensorcore) \
  X(reductions)              \
  X(injective)

/// AutoTVM's for CPUs, exact in names, knobs and enumeration.
#define TW_X86_TEMPLATES(X) \
  X(dense_pack)             \
  X(dense_nopack)           \
  X(conv2d_nchwc)           \
  X(depthwise_conv2d_nchwc) \
  X(batch_matmul)           \
  X(group_conv2d_nchw)      \
  X(conv3d_ncdhw)

#define X(name) Template name();
namespace cpu {
TW_CPU_TEMPLATES(X)
}
namespace cuda {
TW_CUDA_TEMPLATES(X)
}
namespace x86 {
TW_X86_TEMPLATES(X)
}
#undef X

// What several of them were learned from.
inline constexpr const char* kByteDots = "Rodriguez et al., Lower numerical precision deep learning inference and training, Intel, 2018 (VNNI)";
inline constexpr const char* kDirectConv =
    "Georganas et al., Anatomy of high-performance deep learning convolutions on SIMD architectures, SC 2018; Liu et al., NeoCPU, USENIX ATC 2019";
inline constexpr const char* kAutotvm = "Chen et al., Learning to optimize tensor programs, NeurIPS 2018; TVM v0.9.0 (names, knobs and order)";
inline constexpr const char* kAutotvmX86 = "Chen et al., Learning to optimize tensor programs, NeurIPS 2018; TVM v0.9.0 (names, knobs and loop orders)";
inline constexpr const char* kImplicitGemm = "Chetlur et al., cuDNN, arXiv:1410.0759, 2014 (implicit GEMM); TVM v0.9.0 (names of knobs)";

}  // namespace tw::space
