// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/landscape_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

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

namespace {

/// Choices of trials as positions on axes. What was found out of a layout or a value is not looked up again.
class AxisReader {
 public:
  AxisReader(const TrialColumns& trials, PointSet& set) : m_trials(trials), m_set(set) {
    if (set.space) set.axes = set.space->knobs();
    m_seen.resize(set.axes.size());
  }

  /// False if the trial does not choose for every knob of a space that is known.
  bool read(int row, std::vector<int>& positions) {
    const uint32_t id = m_trials.layoutId(row);
    if (id == TrialColumns::kNoLayout) return readIndex(m_trials.configIndex(row), positions);
    const TrialColumns::KnobLayout& layout = m_trials.layout(id);
    const std::vector<int>& axisOf = axesOf(id, layout);
    positions.assign(m_set.axes.size(), -1);
    for (size_t k = 0; k < axisOf.size(); ++k)
      if (axisOf[k] >= 0) positions[static_cast<size_t>(axisOf[k])] = place(static_cast<size_t>(axisOf[k]), layout.kinds[k], m_trials.knobValueId(row, k));
    const bool whole = std::find(positions.begin(), positions.end(), -1) == positions.end();
    return whole || !m_set.space;
  }

 private:
  bool readIndex(int64_t index, std::vector<int>& positions) const {
    if (!m_set.space || index < 0 || index >= m_set.space->size()) return false;
    positions = m_set.space->knob_positions(index);
    return true;
  }
  const std::vector<int>& axesOf(uint32_t id, const TrialColumns::KnobLayout& layout) {
    if (id >= m_layouts.size()) m_layouts.resize(id + 1);
    std::vector<int>& known = m_layouts[id];
    if (!known.empty()) return known;
    for (size_t k = 0; k < layout.names.size(); ++k) {
      const auto same = [&](const space::Knob& axis) { return axis.name == layout.names[k] && axis.kind == layout.kinds[k]; };
      auto at = std::find_if(m_set.axes.begin(), m_set.axes.end(), same);
      if (at == m_set.axes.end() && !m_set.space) {
        space::Knob axis;
        axis.name = layout.names[k], axis.kind = layout.kinds[k];
        at = m_set.axes.insert(at, std::move(axis));
        m_seen.emplace_back();
      }
      known.push_back(at == m_set.axes.end() ? -1 : static_cast<int>(at - m_set.axes.begin()));
    }
    return known;
  }
  /// -1 for a text that is no value of the axis.
  int place(size_t axis, space::KnobKind kind, uint32_t value) {
    std::vector<int>& seen = m_seen[axis];
    constexpr int kUnknown = -2;
    if (value >= seen.size()) seen.resize(std::max<size_t>(value + 1, m_trials.textCount()), kUnknown);
    if (seen[value] != kUnknown) return seen[value];
    space::Knob& knob = m_set.axes[axis];
    const auto choice = knobValueOf(kind, m_trials.text(value));
    int at = choice ? candidateOf(knob, *choice) : -1;
    if (choice && at < 0) at = static_cast<int>(knob.candidates.size()), knob.candidates.push_back(*choice);
    return seen[value] = at;
  }

  const TrialColumns& m_trials;
  PointSet& m_set;
  std::vector<std::vector<int>> m_layouts;  ///< by layout: the axis of each entry
  std::vector<std::vector<int>> m_seen;     ///< by axis and text: the position
};

/// Values in the order of their numbers, else of their texts.
bool isBefore(const space::Knob& knob, const space::KnobValue& a, const space::KnobValue& b) {
  const auto x = valueNumber(knob.kind, a), y = valueNumber(knob.kind, b);
  if (x != y) return !x || (y && *x < *y);
  if (knob.kind == space::KnobKind::split) return a.split < b.split;
  return knobValueText(knob, a) < knobValueText(knob, b);
}

/// Brings the values of axes that trials alone tell of into order; knobs that some trials do not name get an empty value.
void orderAxes(PointSet& set, const std::vector<std::vector<int>>& rows) {
  const size_t n = set.axes.size();
  std::vector<std::vector<int>> moved(n);
  for (size_t k = 0; k < n; ++k) {
    space::Knob& knob = set.axes[k];
    const bool missing = std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return k >= row.size() || row[k] < 0; });
    if (missing) knob.candidates.push_back({});
    std::vector<int> order(knob.candidates.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return isBefore(knob, knob.candidates[static_cast<size_t>(a)], knob.candidates[static_cast<size_t>(b)]); });
    moved[k].resize(order.size());
    std::vector<space::KnobValue> candidates;
    for (size_t p = 0; p < order.size(); ++p) {
      moved[k][static_cast<size_t>(order[p])] = static_cast<int>(p);
      candidates.push_back(std::move(knob.candidates[static_cast<size_t>(order[p])]));
    }
    knob.candidates = std::move(candidates);
  }
  for (const auto& row : rows) {
    for (size_t k = 0; k < n; ++k) {
      const int at = k < row.size() && row[k] >= 0 ? row[k] : static_cast<int>(moved[k].size()) - 1;
      set.positions.push_back(static_cast<uint16_t>(std::min(moved[k][static_cast<size_t>(at)], int{UINT16_MAX})));
    }
  }
}

}  // namespace

PointSet pointsOf(const TrialColumns& trials, const std::string& name, std::shared_ptr<const space::ConfigSpace> space, const std::stop_token& stop) {
  PointSet set;
  set.name = name;
  set.space = std::move(space);
  set.flops = trials.flops();
  AxisReader reader(trials, set);
  const std::vector<space::Knob>* own = set.space ? &set.space->knobs() : nullptr;
  std::vector<std::vector<int>> rows;  // of a space that is not known: its axes grow while trials are read
  std::vector<int> positions;
  for (int row = 0; row < trials.size(); ++row) {
    if (static_cast<size_t>(row) % kPoll == 0 && stop.stop_requested()) return set;
    if (trials.space(row) != name || !reader.read(row, positions)) continue;
    set.row.push_back(row);
    set.number.push_back(trials.number(row));
    set.seconds.push_back(static_cast<float>(trials.seconds(row)));
    // What failed in the finals only has no time either.
    set.status.push_back(trials.ok(row) && !trials.timed(row) ? records::Status::wrong_output : trials.status(row));
    bool placed = own != nullptr;
    for (size_t k = 0; own && k < positions.size(); ++k) {
      placed = placed && static_cast<size_t>(positions[k]) < (*own)[k].candidates.size();
      set.positions.push_back(static_cast<uint16_t>(std::min(positions[k], int{UINT16_MAX})));
    }
    set.index.push_back(placed ? set.space->index_of(positions) : -1);
    if (!own) rows.push_back(positions);
  }
  if (!own) orderAxes(set, rows);
  return set;
}

std::string mostTriedSpace(const TrialColumns& trials) {
  std::map<uint32_t, int> counts;
  for (int row = 0; row < trials.size(); ++row)
    if (trials.layoutId(row) != TrialColumns::kNoLayout) ++counts[trials.spaceId(row)];
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::string() : trials.text(most->first);
}

QString choicesText(const PointSet& points, size_t point) {
  std::vector<std::pair<QString, QString>> knobs;
  for (size_t k = 0; k < points.knobs(); ++k) {
    const space::Knob& knob = points.axes[k];
    knobs.emplace_back(QString::fromStdString(knob.name), knobValueText(knob, knob.candidates[static_cast<size_t>(points.position(point, k))]));
  }
  return knobsText(knobs);
}

HeatMap heatMap(const PointSet& points, int x, int y, int64_t base, const std::stop_token& stop) {
  HeatMap map;
  if (x < 0 || y < 0 || static_cast<size_t>(std::max(x, y)) >= points.knobs()) return map;
  const auto& knobs = points.axes;
  const auto kx = static_cast<size_t>(x), ky = static_cast<size_t>(y);
  map.x = x, map.y = y;
  map.across = knobs[kx], map.down = knobs[ky];
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
  if (!points.space || points.space->size() == 0) return map;
  const auto& own = points.space->knobs();
  std::vector<int> positions = points.space->knob_positions(std::clamp<int64_t>(base, 0, points.space->size() - 1));
  for (int row = 0; row < map.rows; ++row) {
    if (stop.stop_requested()) return map;
    for (int column = 0; column < map.columns; ++column) {
      HeatMap::Cell& cell = map.cells[static_cast<size_t>(row) * static_cast<size_t>(map.columns) + static_cast<size_t>(column)];
      // What only trials have has no place in the space.
      if (static_cast<size_t>(column) >= own[kx].candidates.size() || static_cast<size_t>(row) >= own[ky].candidates.size()) continue;
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
  for (const space::Knob& knob : points.axes) {
    table.emplace_back();
    for (int p = 0; p < static_cast<int>(knob.candidates.size()); ++p) table.back().push_back(featuresOf(knob, p));
    size_t width = 0;  // values that trials alone tell of may have more factors than others
    for (const auto& features : table.back()) width = std::max(width, features.size());
    for (auto& features : table.back()) features.resize(width, 0);
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
    std::vector<double> groupSum(points.axes[k].candidates.size(), 0), groupCount(groupSum.size(), 0);
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
