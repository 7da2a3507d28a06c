// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/curve_data.h"

#include <algorithm>

namespace tw::widgets {

double curveValue(double seconds, double flops, CurveUnit unit) { return unit == CurveUnit::gflops ? flops / seconds / 1e9 : seconds * 1e3; }

CurveData reduceCurve(const TrialStore& store, CurveUnit unit, int buckets) {
  CurveData out;
  const int rows = store.size();
  if (rows == 0) return out;
  const int perBucket = std::max(1, (rows + buckets - 1) / std::max(1, buckets));
  const auto point = [&](int row) { return CurvePoint{static_cast<double>(store.number(row)), curveValue(store.seconds(row), store.flops(), unit), row}; };
  for (int begin = 0; begin < rows; begin += perBucket) {
    int fastest = -1, slowest = -1;
    std::map<records::Status, int> failed;
    for (int row = begin; row < std::min(rows, begin + perBucket); ++row) {
      if (!store.ok(row)) {
        failed.emplace(store.status(row), row);
        continue;
      }
      if (store.seconds(row) <= 0) continue;
      if (fastest < 0 || store.seconds(row) < store.seconds(fastest)) fastest = row;
      if (slowest < 0 || store.seconds(row) > store.seconds(slowest)) slowest = row;
    }
    if (fastest >= 0) out.trials.push_back(point(std::min(fastest, slowest)));
    if (fastest != slowest) out.trials.push_back(point(std::max(fastest, slowest)));
    for (const auto& [status, row] : failed) out.failures.push_back({static_cast<double>(store.number(row)), status, row});
  }
  for (const auto& improvement : store.improvements()) out.best.push_back(point(improvement.row));
  if (!out.best.empty()) out.best.push_back({static_cast<double>(store.number(rows - 1)), out.best.back().y, out.best.back().row});
  return out;
}

}  // namespace tw::widgets
