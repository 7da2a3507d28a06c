// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/space/template.h"
#include "engine/space/templates/x86/batch_matmul.h"
#include "engine/space/templates/x86/conv2d_nchwc.h"
#include "engine/space/templates/x86/conv3d_ncdhw.h"
#include "engine/space/templates/x86/dense_nopack.h"
#include "engine/space/templates/x86/dense_pack.h"
#include "engine/space/templates/x86/depthwise_conv2d_nchwc.h"
#include "engine/space/templates/x86/group_conv2d_nchw.h"

namespace tw::space {

namespace {

constexpr const char* kSource = "Chen et al., Learning to optimize tensor programs, NeurIPS 2018; TVM v0.9.0 (names, knobs and loop orders)";

const std::array<Template, 7> kAutotvmTemplates{{
    {"dense_pack.x86", x86::dense_pack_matches, x86::dense_pack_space, x86::dense_pack_apply, x86::dense_pack_fallback,
     "AutoTVM's matrix product with packed weights. Every tile divides its axis: two levels of tiles of rows and columns around a register tile, with some "
     "steps "
     "of the reduction written out.",
     kSource},
    {"dense_nopack.x86", x86::dense_nopack_matches, x86::dense_nopack_space, x86::dense_nopack_apply, x86::dense_nopack_fallback,
     "AutoTVM's matrix product with weights as they are. Each result is summed up in a vector along the reduction, whose lanes are added at the end: vectors "
     "and "
     "loads come without packing, at the price of that last sum.",
     kSource},
    {"conv2d_NCHWc.x86", x86::conv2d_nchwc_matches, x86::conv2d_nchwc_space, x86::conv2d_nchwc_apply, x86::conv2d_nchwc_fallback,
     "AutoTVM's direct convolution over blocks of channels. The blocks of input and output channels are knobs, so every point brings its own layouts; the "
     "register "
     "tile is a row of pixels times one block of output channels.",
     "Liu et al., Optimizing CNN model inference on CPUs (NeoCPU), USENIX ATC 2019; TVM v0.9.0 (names, knobs and loop orders)"},
    {"depthwise_conv2d_NCHWc.x86", x86::depthwise_conv2d_nchwc_matches, x86::depthwise_conv2d_nchwc_space, x86::depthwise_conv2d_nchwc_apply,
     x86::depthwise_conv2d_nchwc_fallback,
     "AutoTVM's depthwise convolution over blocks of channels, which may differ between input and output; the register tile is a row of pixels times a block.",
     "Liu et al., Optimizing CNN model inference on CPUs (NeoCPU), USENIX ATC 2019; TVM v0.9.0 (names, knobs and loop orders)"},
    {"batch_matmul.x86", x86::batch_matmul_matches, x86::batch_matmul_space, x86::batch_matmul_apply, x86::batch_matmul_fallback,
     "AutoTVM's batched matrix product: partial sums in vectors along the reduction, as in its dense layers without packing.", kSource},
    {"group_conv2d_nchw.x86", x86::group_conv2d_nchw_matches, x86::group_conv2d_nchw_space, x86::group_conv2d_nchw_apply, x86::group_conv2d_nchw_fallback,
     "AutoTVM's grouped convolution over blocks of channels, none of which crosses groups; the register tile is a row of pixels times a block.", kSource},
    {"conv3d_ncdhw.x86", x86::conv3d_ncdhw_matches, x86::conv3d_ncdhw_space, x86::conv3d_ncdhw_apply, x86::conv3d_ncdhw_fallback,
     "AutoTVM's convolution of volumes over blocks of channels; the register tile is a short row of pixels times a block.", kSource},
}};

}  // namespace

std::span<const Template> autotvm_templates() { return kAutotvmTemplates; }

}  // namespace tw::space
