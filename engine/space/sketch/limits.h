// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "engine/lower/launch.h"
#include "engine/schedule/schedule.h"
#include "engine/target/target.h"

namespace tw::space {

/// What a GPU allows a block: threads and shared memory; and what its tensor cores ask of a warp. Costs an inference of regions, no lowering; says
/// nothing of registers.
/// Errors: resource_limit naming stage, limit and what was found; illegal_schedule for schedules that cannot be lowered.
Expected<void> check_limits(const schedule::Schedule& s, const Target& target);
/// The same where it is known how often loops run, and what a stage that is computed in a loop makes at once, by spatial axis.
using RegionOf = std::function<std::vector<int64_t>(int stage)>;
Expected<void> check_limits(std::span<const schedule::Stage> stages, const lower::LoopExtentOf& extent, const RegionOf& region, const Target& target);

}  // namespace tw::space
