// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <limits>
#include <vector>

#include "widgets/common/tabular.h"
#include "widgets/tuning/trial_store.h"

namespace tw::widgets {

/// What the sessions of one tuner, which differ in their seed alone, came to on one task. Times in seconds, infinite where there is none; trials and seconds until
/// a session was within a share of the best known are medians over the sessions, infinite where the middle one never was.
struct TunerRow {
  QString name;
  int sessions = 0;
  double median_s = std::numeric_limits<double>::infinity(), best_s = median_s;
  double trialsWithin5 = median_s, secondsWithin5 = median_s, trialsWithin1 = median_s, secondsWithin1 = median_s;
  int64_t trials = 0, failures = 0;
  double build_s = 0, run_s = 0;  ///< of all trials together
};

/// Sessions of one tuner; stores may be null.
struct TunerTrials {
  QString name;
  std::vector<TrialStorePtr> sessions;
};
/// A row a tuner, the least median first. The best known is the least time of all of them.
std::vector<TunerRow> tunerRows(const std::vector<TunerTrials>& tuners);
/// As it is shown; the columns say what they count.
Table tunerTable(const std::vector<TunerRow>& rows);

}  // namespace tw::widgets
