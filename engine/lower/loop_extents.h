// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lower/domain.h"
#include "engine/schedule/schedule.h"

namespace tw::lower {

/// How often the loops of a schedule run once it is lowered: those of a stage that is computed inside a loop, over the region that is needed there.
class LoopExtents {
 public:
  /// A schedule that a later step made illegal has the extents of its steps.
  explicit LoopExtents(const schedule::Schedule& s);
  LoopExtents(const LoopExtents&) = delete;
  LoopExtents& operator=(const LoopExtents&) = delete;

  bool ok() const { return domains_.has_value(); }  ///< whether the schedule is legal
  /// A loop that the schedule did not have then has the extent of its step.
  int64_t of(int stage, const schedule::Iter& it) const {
    if (!domains_) return it.extent;
    const auto found = domains_->of(stage).loop_extent.find(it.var.get());
    return found == domains_->of(stage).loop_extent.end() ? it.extent : found->second;
  }
  /// Extents of the region of a legal schedule's stage that is computed at once, by spatial axis.
  const std::vector<int64_t>& region(int stage) const { return domains_->of(stage).extent; }

 private:
  std::vector<schedule::Stage> stages_;
  std::optional<DomainInference> domains_;  ///< refers to the stages
};

}  // namespace tw::lower
