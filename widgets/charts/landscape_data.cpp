// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/landscape_data.h"

#include <algorithm>
#include <cmath>

namespace tw::widgets {
namespace {

constexpr size_t kPoll = 4096;

/// Numbers that stand for one position of a knob.
std::vector<double> featuresOf(const space::Knob& knob, int position) {
  const space::KnobValue& value = knob.candidates[static_cast<size_t>(position)];
  if (knob.kind != space::KnobKind::split) {
    const double number = knobNumber(knob, position);
    return {knob.kind == space::KnobKind::other && value.other.is_number() && number >= 0 ? std::log2(1 + number) : number};
  }
  std::vector<double> features;
  for (size_t i = 1; i < value.split.size(); ++i) features.push_back(std::log2(static_cast<double>(std::max<int64_t>(1, value.split[i]))));
  if (features.empty()) features.push_back(0);
  return features;
}

/// The eigenvector of the largest eigenvalue of a symmetric matrix, by power iteration.
std::pair<double, std::vector<double>> strongest(const std::vector<std::vector<double>>& m) {
  const size_t n = m.size();
  std::vector<double> v(n), next(n);
  for (size_t i = 0; i < n; ++i) v[i] = 1 + 0.01 * static_cast<double>(i);  // no eigenvector is likely to be at right angles to it
  double value = 0;
  for (int round = 0; round < 300; ++round) {
    double length = 0;
    for (size_t i = 0; i < n; ++i) {
      next[i] = 0;
      for (size_t j = 0; j < n; ++j) next[i] += m[i][j] * v[j];
      length += next[i] * next[i];
    }
    length = std::sqrt(length);
    if (length < 1e-12) return {0, std::vector<double>(n, 0)};
    double moved = 0;
    for (size_t i = 0; i < n; ++i) {
      next[i] /= length;
      moved += std::abs(next[i] - v[i]);
    }
    v = next;
    value = length;
    if (moved < 1e-10) break;
  }
  // A sign that does not depend on where the iteration began.
  const auto largest = std::max_element(v.begin(), v.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (*largest < 0) {
    for (double& x : v) x = -x;
  }
  return {value, v};
}

}  // namespace

PointSet pointsOf(const TrialColumns& trials, const std::string& name, std::shared_ptr<const space::ConfigSpace> space, const std::stop_token& stop) {
  PointSet set;
  set.space = std::move(space);
  set.flops = trials.flops();
  if (!set.space) return set;
  const auto& knobs = set.space->knobs();
  const int64_t size = set.space->size();
  for (int row = 0; row < trials.size(); ++row) {
    if (static_cast<size_t>(row) % kPoll == 0 && stop.stop_requested()) return set;
    int64_t rest = trials.configIndex(row);
    if (rest < 0 || rest >= size || trials.space(row) != name) continue;
    set.row.push_back(row);
    set.number.push_back(trials.number(row));
    set.index.push_back(rest);
    set.seconds.push_back(static_cast<float>(trials.seconds(row)));
    set.status.push_back(trials.status(row));
    for (const space::Knob& knob : knobs) {
      const auto count = static_cast<int64_t>(knob.candidates.size());
      set.positions.push_back(static_cast<uint16_t>(std::min<int64_t>(rest % count, UINT16_MAX)));
      rest /= count;
    }
  }
  return set;
}

HeatMap heatMap(const PointSet& points, int x, int y, int64_t base, const std::stop_token& stop) {
  HeatMap map;
  if (!points.space || x < 0 || y < 0 || static_cast<size_t>(std::max(x, y)) >= points.knobs()) return map;
  const auto& knobs = points.space->knobs();
  const auto kx = static_cast<size_t>(x), ky = static_cast<size_t>(y);
  map.x = x, map.y = y;
  map.columns = static_cast<int>(knobs[kx].candidates.size());
  map.rows = static_cast<int>(knobs[ky].candidates.size());
  map.cells.resize(static_cast<size_t>(map.columns) * static_cast<size_t>(map.rows));
  for (size_t p = 0; p < points.size(); ++p) {
    HeatMap::Cell& cell =
        map.cells[static_cast<size_t>(points.position(p, ky)) * static_cast<size_t>(map.columns) + static_cast<size_t>(points.position(p, kx))];
    ++cell.trials;
    if (!points.ok(p)) {
      ++cell.failures;
      if (cell.state != HeatMap::State::ok) cell.state = HeatMap::State::failed, cell.bestNumber = points.number[p];
    } else if (const auto seconds = static_cast<double>(points.seconds[p]); cell.state != HeatMap::State::ok || seconds < cell.best) {
      cell.state = HeatMap::State::ok, cell.best = seconds, cell.bestNumber = points.number[p];
    }
  }
  std::vector<int> positions = points.space->knob_positions(std::clamp<int64_t>(base, 0, points.space->size() - 1));
  for (int row = 0; row < map.rows; ++row) {
    if (stop.stop_requested()) return map;
    for (int column = 0; column < map.columns; ++column) {
      HeatMap::Cell& cell = map.cells[static_cast<size_t>(row) * static_cast<size_t>(map.columns) + static_cast<size_t>(column)];
      positions[kx] = column, positions[ky] = row;
      cell.index = points.space->index_of(positions);
      if (cell.state != HeatMap::State::untried) continue;
      const auto entity = points.space->get(cell.index);
      if (!entity || !points.space->filtered_reason(*entity).empty()) cell.state = HeatMap::State::refused;
    }
  }
  return map;
}

Projection project(const PointSet& points, const std::stop_token& stop) {
  Projection out;
  if (points.size() < 2) return out;
  std::vector<std::vector<std::vector<double>>> table;  // knob, position: its features
  for (const space::Knob& knob : points.space->knobs()) {
    table.emplace_back();
    for (int p = 0; p < static_cast<int>(knob.candidates.size()); ++p) table.back().push_back(featuresOf(knob, p));
    const size_t width = table.back().empty() ? 0 : table.back()[0].size();
    for (size_t i = 0; i < width; ++i) out.features.push_back(knob.kind == space::KnobKind::split ? knob.name + "[" + std::to_string(i + 1) + "]" : knob.name);
  }
  const size_t n = out.features.size();
  std::vector<double> mean(n, 0), features(n);
  std::vector<std::vector<double>> covariance(n, std::vector<double>(n, 0));
  const auto read = [&](size_t point) {
    size_t at = 0;
    for (size_t k = 0; k < table.size(); ++k)
      for (const double f : table[k][static_cast<size_t>(points.position(point, k))]) features[at++] = f;
  };
  const auto count = static_cast<double>(points.size());
  for (size_t p = 0; p < points.size(); ++p) {
    if (p % kPoll == 0 && stop.stop_requested()) return {};
    read(p);
    for (size_t i = 0; i < n; ++i) mean[i] += features[i] / count;
  }
  for (size_t p = 0; p < points.size(); ++p) {
    if (p % kPoll == 0 && stop.stop_requested()) return {};
    read(p);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j <= i; ++j) covariance[i][j] += (features[i] - mean[i]) * (features[j] - mean[j]) / count;
  }
  std::vector<double> scale(n);
  double total = 0;
  for (size_t i = 0; i < n; ++i) {
    scale[i] = covariance[i][i] > 1e-12 ? 1 / std::sqrt(covariance[i][i]) : 0;
    total += scale[i] > 0 ? 1 : 0;
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) covariance[i][j] = covariance[j][i] = covariance[i][j] * scale[i] * scale[j];
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto [value, vector] = strongest(covariance);
    out.share[axis] = total > 0 ? value / total : 0;
    out.weights[axis] = vector;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) covariance[i][j] -= value * vector[i] * vector[j];
  }
  for (size_t p = 0; p < points.size(); ++p) {
    if (p % kPoll == 0 && stop.stop_requested()) return {};
    read(p);
    double x = 0, y = 0;
    for (size_t i = 0; i < n; ++i) {
      const double f = (features[i] - mean[i]) * scale[i];
      x += f * out.weights[0][i], y += f * out.weights[1][i];
    }
    out.x.push_back(static_cast<float>(x)), out.y.push_back(static_cast<float>(y));
  }
  return out;
}

std::vector<double> importance(const PointSet& points) {
  double sum = 0, squares = 0;
  size_t count = 0;
  for (size_t p = 0; p < points.size(); ++p) {
    if (!points.ok(p)) continue;
    const double y = std::log(static_cast<double>(points.seconds[p]));
    sum += y, squares += y * y, ++count;
  }
  if (count < 8) return {};
  const auto n = static_cast<double>(count);
  const double total = squares - sum * sum / n;
  std::vector<double> shares;
  for (size_t k = 0; k < points.knobs(); ++k) {
    std::vector<double> groupSum(points.space->knobs()[k].candidates.size(), 0), groupCount(groupSum.size(), 0);
    for (size_t p = 0; p < points.size(); ++p) {
      if (!points.ok(p)) continue;
      const auto g = static_cast<size_t>(points.position(p, k));
      groupSum[g] += std::log(static_cast<double>(points.seconds[p])), ++groupCount[g];
    }
    double between = 0, groups = 0;
    for (size_t g = 0; g < groupSum.size(); ++g) {
      if (groupCount[g] > 0) between += groupSum[g] * groupSum[g] / groupCount[g], ++groups;
    }
    between -= sum * sum / n;
    const double within = n > groups ? (total - between) / (n - groups) : 0;
    shares.push_back(total > 1e-12 && n > groups ? std::clamp((between - (groups - 1) * within) / total, 0.0, 1.0) : 0);
  }
  return shares;
}

}  // namespace tw::widgets
