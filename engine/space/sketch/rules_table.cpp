// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

std::span<const SketchRule> sketch_rules() {
  static const SketchRule kRules[] = {
      block_activations_rule(),
      tensor_cores_rule(),
      add_cache_read_rule(),
      special_compute_location_rule(),
      always_inline_rule(),
      simplify_const_tensor_rule(),
      add_rfactor_rule(),
      cross_thread_reduction_rule(),
      winograd_rule(),
      im2col_rule(),
      block_channels_rule(),
      add_cache_write_rule(),
      multi_level_tiling_with_fusion_rule(),
      multi_level_tiling_rule(),
      skip_stage_rule(),
  };
  return kRules;
}

}  // namespace tw::space
