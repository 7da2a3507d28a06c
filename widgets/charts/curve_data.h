// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "engine/base/curve_band.h"
#include "widgets/tuning/trial_store.h"

/// From trials to what a tuning curve draws. No Qt.
namespace tw::widgets {

enum class CurveUnit { gflops, seconds };
/// All ascend: trial number; seconds of the session's work since the first trial ended; seconds spent on building and running all trials so far.
enum class CurveX { trials, wall, spent };

struct CurvePoint {
  double x = 0, y = 0;  ///< in the units of the axes
  int row = -1;         ///< of the store
};

struct FailurePoint {
  double x = 0;
  records::Status status = records::Status::infra;
  int row = -1;
};

struct CurveData {
  std::vector<CurvePoint> trials;      ///< successful trials, ascending x, thinned when there are many
  std::vector<CurvePoint> best;        ///< one point where the best improved, and one at the last trial
  std::vector<FailurePoint> failures;  ///< one per bucket and kind when there are many
};

double curveValue(double seconds, double flops, CurveUnit unit);
double curveX(const TrialColumns& trials, int row, CurveX x);
/// Least and largest x of all trials, zeros for none.
std::pair<double, double> curveRange(const TrialColumns& trials, CurveX x);

/// Reduces the trials with x in [low, high] to at most two (slowest and fastest) and one failure of each kind for each of `buckets` equal ranges of x.
/// With no more trials than buckets every one is kept.
CurveData reduceCurve(const TrialStore& store, CurveUnit unit, int buckets, CurveX x = CurveX::trials, double low = -std::numeric_limits<double>::infinity(),
                      double high = std::numeric_limits<double>::infinity());
/// The best so far of several searches against each other, in the units of the axes; empty if one of them is missing or found nothing.
QuartileBand bandOf(const std::vector<TrialStorePtr>& searches, CurveUnit unit, CurveX x, int steps = 200);
/// Only the best so far.
std::vector<CurvePoint> bestCurve(const TrialStore& store, CurveUnit unit, CurveX x);

}  // namespace tw::widgets
