// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/sketch/rule.h"

/// Each in its file.
namespace tw::space {

SketchRule add_cache_read_rule();
SketchRule special_compute_location_rule();
SketchRule always_inline_rule();
SketchRule simplify_const_tensor_rule();
SketchRule add_rfactor_rule();
SketchRule cross_thread_reduction_rule();
SketchRule block_activations_rule();
SketchRule winograd_rule();
SketchRule im2col_rule();
SketchRule block_channels_rule();
SketchRule tensor_cores_rule();
SketchRule add_cache_write_rule();
SketchRule multi_level_tiling_with_fusion_rule();
SketchRule multi_level_tiling_rule();
SketchRule skip_stage_rule();

}  // namespace tw::space
