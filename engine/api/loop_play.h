// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/stop_token.h"
#include "engine/records/task.h"
#include "engine/schedule/step.h"
#include "engine/simulate/loop_play.h"

namespace tw::api {

struct LoopPlayOptions {
  int64_t limit = int64_t{1} << 22;  ///< elements that are read and written, at most
  int smaller_caches = 1;            ///< caches have so many times fewer sets than the target's: small sizes then fill them as large ones fill the target's
  bool own_sizes = false;            ///< the task's, even if the end of its loops is not reached
};

/// The loops of a candidate as they can be watched.
struct PlayedLoops {
  std::shared_ptr<const simulate::LoopPlay> play;
  int64_t longest = 0;               ///< axes that were longer were halved until they were not (te::smaller); 0: the task's own sizes
  std::optional<Error> not_smaller;  ///< why the sizes are the task's own although these do not end within the limit: the schedule fits no smaller ones
};

/// The candidate on the largest sizes whose loops end within the limit, else the first part of its own. Registers, caches and warps are the task's target's.
/// Errors: why the steps are illegal for the task or cannot be lowered; those of tir::trace_accesses; cancelled.
Expected<PlayedLoops> play_loops(const records::Task& task, const std::vector<schedule::Step>& steps, const LoopPlayOptions& options = {}, StopToken stop = {});

}  // namespace tw::api
