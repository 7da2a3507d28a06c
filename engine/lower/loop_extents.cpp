// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/loop_extents.h"

#include "engine/lower/prepare.h"

namespace tw::lower {

LoopExtents::LoopExtents(const schedule::Schedule& s) {
  auto stages = prepared_stages(s);
  if (!stages) return;
  stages_ = *std::move(stages);
  domains_.emplace(stages_).run();
}

}  // namespace tw::lower
