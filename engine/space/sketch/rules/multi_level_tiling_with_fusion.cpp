// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

RuleFit fits_fusion(const SketchState& s, int stage) {
  if (!s.needs_tiling(stage) || s.matched_consumer(stage) < 0) return RuleFit::skip;
  return s.target().gpu || s.is_cache_written(stage) ? RuleFit::apply_and_end : RuleFit::apply;
}

Derived tile_and_fuse(const SketchState& s, int stage) {
  const int consumer = s.matched_consumer(stage);
  const std::string& structure = s.target().gpu ? s.options().gpu_structure : s.options().cpu_structure;
  SketchState base = s;
  const std::vector<int> splits = tile(base, stage);
  Derived out;
  for (const int level : s.target().gpu ? std::vector{3} : std::vector{1, 2}) {
    if (level > static_cast<int>(structure.size()) || structure[static_cast<size_t>(level) - 1] != 'S') continue;
    SketchState next = base;
    follow_tiling(next, consumer, splits, level);
    next.apply(schedule::ComputeAtStep{stage, consumer, level * static_cast<int>(splits.size()) - 1});
    out.emplace_back(std::move(next), stage - 1);
  }
  return out;
}

}  // namespace

SketchRule multi_level_tiling_with_fusion_rule() {
  return {"multi-level-tiling-with-fusion", true, true, fits_fusion, tile_and_fuse,
          "Tiles a stage in several levels, inside the loops of the consumer that takes its elements one by one."};
}

}  // namespace tw::space
