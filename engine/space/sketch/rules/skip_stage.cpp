// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

Derived skip(const SketchState& s, int stage) { return {{s, stage - 1}}; }

}  // namespace

SketchRule skip_stage_rule() {
  return {"skip-stage", true, true, [](const SketchState&, int) { return RuleFit::apply; }, skip, "Leaves a stage as it is.", true};
}

}  // namespace tw::space
