// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/curve_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw::widgets {
namespace {

/// What is kept of one range of x.
struct Bucket {
  int fastest = -1, slowest = -1;
  std::vector<std::pair<records::Status, int>> failed;  ///< the first of each kind
};

void put(Bucket& bucket, const TrialColumns& t, int row) {
  const records::Status status = t.status(row);
  if (status != records::Status::ok) {
    for (const auto& [kind, first] : bucket.failed)
      if (kind == status) return;
    bucket.failed.emplace_back(status, row);
    return;
  }
  const double seconds = t.seconds(row);
  if (seconds <= 0 || !t.timed(row)) return;
  if (bucket.fastest < 0 || seconds < t.seconds(bucket.fastest)) bucket.fastest = row;
  if (bucket.slowest < 0 || seconds > t.seconds(bucket.slowest)) bucket.slowest = row;
}

}  // namespace

double curveValue(double seconds, double flops, CurveUnit unit) { return unit == CurveUnit::gflops ? flops / seconds / 1e9 : seconds; }

double curveX(const TrialColumns& t, int row, CurveX x) {
  switch (x) {
    case CurveX::wall:
      return t.elapsedSeconds(row);
    case CurveX::spent:
      return t.spentSeconds(row);
    case CurveX::trials:
      break;
  }
  return static_cast<double>(t.number(row));
}

std::pair<double, double> curveRange(const TrialColumns& t, CurveX x) {
  if (t.size() == 0) return {0, 0};
  return {curveX(t, 0, x), curveX(t, t.size() - 1, x)};
}

std::vector<CurvePoint> bestCurve(const TrialStore& store, CurveUnit unit, CurveX x) {
  std::vector<CurvePoint> best;
  for (const auto& improvement : store.improvements())
    best.push_back({curveX(store, improvement.row, x), curveValue(improvement.seconds, store.flops(), unit), improvement.row});
  if (!best.empty()) best.push_back({std::max(best.back().x, curveRange(store, x).second), best.back().y, best.back().row});
  return best;
}

QuartileBand bandOf(const std::vector<TrialStorePtr>& searches, CurveUnit unit, CurveX x, int steps) {
  std::vector<StepCurve> curves;
  for (const TrialStorePtr& search : searches) {
    StepCurve& curve = curves.emplace_back();
    if (!search) return {};
    for (const CurvePoint& p : bestCurve(*search, unit, x)) curve.push_back({p.x, p.y});
  }
  return band_of(curves, steps);
}

CurveData reduceCurve(const TrialStore& store, CurveUnit unit, int buckets, CurveX x, double low, double high) {
  CurveData out;
  const int rows = store.size();
  if (rows == 0) return out;
  const auto [first, last] = curveRange(store, x);
  low = std::max(low, first), high = std::min(high, last);
  // All of them ascend, so that the rows in sight need not be looked for.
  const auto firstFrom = [&](double from) {
    int a = 0, b = rows;
    while (a < b) {
      const int middle = a + (b - a) / 2;
      (curveX(store, middle, x) < from ? a : b) = curveX(store, middle, x) < from ? middle + 1 : middle;
    }
    return a;
  };
  const int begin = firstFrom(low), end = std::min(rows, firstFrom(std::nextafter(high, std::numeric_limits<double>::infinity())));
  const bool all = end - begin <= buckets;
  const double width = std::max((high - low) / std::max(1, buckets), 1e-12);
  std::vector<Bucket> kept(static_cast<size_t>(all ? std::max(0, end - begin) : std::max(1, buckets)));
  for (int row = begin; row < end; ++row) {
    const double at = curveX(store, row, x);
    if (at < low || at > high) continue;
    const size_t bucket = all ? static_cast<size_t>(row - begin) : std::min(kept.size() - 1, static_cast<size_t>((at - low) / width));
    put(kept[bucket], store, row);
  }
  const auto point = [&](int row) { return CurvePoint{curveX(store, row, x), curveValue(store.seconds(row), store.flops(), unit), row}; };
  for (const Bucket& bucket : kept) {
    if (bucket.fastest >= 0) out.trials.push_back(point(std::min(bucket.fastest, bucket.slowest)));
    if (bucket.fastest != bucket.slowest) out.trials.push_back(point(std::max(bucket.fastest, bucket.slowest)));
    for (const auto& [status, row] : bucket.failed) out.failures.push_back({curveX(store, row, x), status, row});
  }
  out.best = bestCurve(store, unit, x);
  return out;
}

}  // namespace tw::widgets
