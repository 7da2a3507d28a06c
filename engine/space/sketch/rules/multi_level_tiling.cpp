// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

Derived tile_alone(const SketchState& s, int stage) {
  SketchState next = s;
  tile(next, stage);
  return {{next, stage - 1}};
}

}  // namespace

SketchRule multi_level_tiling_rule() {
  return {"multi-level-tiling", true, true, [](const SketchState& s, int stage) { return s.needs_tiling(stage) ? RuleFit::apply_and_end : RuleFit::skip; },
          tile_alone, "Tiles a stage in several levels, so that what it reads is used again while it is near."};
}

}  // namespace tw::space
