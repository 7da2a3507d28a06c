// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "db/comparison.h"
#include "widgets/common/tabular.h"
#include "widgets/tuning/trial_store.h"

namespace tw::widgets {

/// A session's curve of the best so far, from its trials; without any for none.
db::SessionCurve curveOf(const TrialStorePtr& store);
/// What groups of sessions came to, as it is shown; the columns say what they count.
Table progressTable(const std::vector<db::GroupProgress>& rows);

}  // namespace tw::widgets
