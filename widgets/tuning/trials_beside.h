// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/records/record.h"
#include "widgets/common/side_by_side.h"
#include "widgets/tuning/knob_text.h"

namespace tw::widgets {

/// A trial among those put side by side.
struct TrialBeside {
  QString title;     ///< such as `session 3, trial 17`
  double flops = 0;  ///< of its task
  records::Record record;
};

/// Outcome, times, spread, and every knob of trials, a row each.
std::vector<SideBySideRow> trialsBeside(const std::vector<TrialBeside>& entries, const SpaceMap& spaces);

}  // namespace tw::widgets
