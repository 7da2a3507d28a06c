// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "widgets/tuning/trial_store.h"

/// From trials to what a tuning curve draws. No Qt.
namespace tw::widgets {

enum class CurveUnit { gflops, milliseconds };

struct CurvePoint {
  double x = 0, y = 0;  ///< trial number; value in the unit
  int row = -1;         ///< of the store
};

struct FailurePoint {
  double x = 0;
  records::Status status = records::Status::infra;
  int row = -1;
};

struct CurveData {
  std::vector<CurvePoint> trials;      ///< successful trials, ascending x, thinned to `columns` buckets when there are many
  std::vector<CurvePoint> best;        ///< one point where the best improved, and one at the last trial
  std::vector<FailurePoint> failures;  ///< one per bucket and kind when there are many
};

double curveValue(double seconds, double flops, CurveUnit unit);

/// Reduces a store to at most two trials (slowest and fastest) and one failure of each kind per bucket of trial numbers.
/// With no more rows than buckets every trial is kept.
CurveData reduceCurve(const TrialStore& store, CurveUnit unit, int buckets);

}  // namespace tw::widgets
