// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/resource_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/base/curve_band.h"
#include "engine/base/grid_variance.h"
#include "engine/base/knee.h"
#include "engine/base/rng.h"
#include "engine/cost/metrics.h"
#include "engine/cost/xgboost.h"

namespace tw::cost {
namespace {

constexpr size_t kLeastRows = 8;
constexpr double kTail = 0.05;
constexpr double kMostPoints = 1 << 18;  ///< of a grid that cannot be thinned: some hundred megabytes, and minutes for all refits
/// Of the trees: shallow ones that see interactions of a few resources, enough rounds that a table without noise is learned.
constexpr int kRounds = 150;
const xgboost::Booster::Params kTrees = {{"objective", "reg:squarederror"}, {"max_depth", "5"}, {"eta", "0.15"}, {"min_child_weight", "1"}, {"lambda", "0.5"}, {"tree_method", "exact"}, {"verbosity", "0"}};

/// An axis on which equal steps matter alike.
std::vector<double> axis_of(const std::vector<double>& values) {
  std::vector<double> axis = values;
  if (!values.empty() && values.front() > 0 && values.back() >= 8 * values.front())
    for (double& v : axis) v = std::log2(v);
  return axis;
}

using Places = std::vector<size_t>;

std::vector<float> features_of(std::span<const Places> points) {
  std::vector<float> out;
  for (const Places& p : points)
    for (const size_t place : p) out.push_back(static_cast<float>(place));
  return out;
}

/// All that is asked of one fit.
struct Fitted {
  std::vector<double> grid;                  ///< log speed
  std::vector<std::vector<double>> slices;   ///< log speed, for each resource
  std::vector<double> rows;                  ///< log speed of all trials
};

class Trees {
 public:
  Trees(const ResourceTable& table, const std::vector<Places>& grid, const std::vector<Places>& slices, int threads) : threads_(threads), columns_(table.resources.size()) {
    for (const ResourceTable::Row& r : table.rows) points_.push_back(r.at), labels_.push_back(static_cast<float>(std::log(r.speed)));
    rows_ = points_.size(), grid_ = grid.size();
    points_.insert(points_.end(), grid.begin(), grid.end());
    points_.insert(points_.end(), slices.begin(), slices.end());
    for (const Resource& r : table.resources) widths_.push_back(r.values.size());
  }

  Expected<Fitted> fit(const std::vector<size_t>& chosen) const {
    std::vector<Places> points;
    std::vector<float> labels;
    for (const size_t row : chosen) points.push_back(points_[row]), labels.push_back(labels_[row]);
    const std::vector<float> train_features = features_of(points), features = features_of(points_);
    TW_TRY(auto train, xgboost::Matrix::make(train_features.data(), points.size(), columns_, threads_));
    TW_CHECK(train.set("label", labels));
    xgboost::Booster::Params params = kTrees;
    params.emplace_back("nthread", std::to_string(threads_));
    TW_TRY(auto trees, xgboost::Booster::make(train, params));
    for (int round = 0; round < kRounds; ++round) TW_CHECK(trees.update(round, train));
    TW_TRY(const auto all, xgboost::Matrix::make(features.data(), points_.size(), columns_, threads_));
    TW_TRY(const std::span<const float> values, trees.predict(all, 0));
    Fitted f;
    f.rows.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rows_));
    f.grid.assign(values.begin() + static_cast<std::ptrdiff_t>(rows_), values.begin() + static_cast<std::ptrdiff_t>(rows_ + grid_));
    size_t at = rows_ + grid_;
    for (const size_t width : widths_) {
      f.slices.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(at), values.begin() + static_cast<std::ptrdiff_t>(at + width));
      at += width;
    }
    return f;
  }

 private:
  std::vector<Places> points_;  ///< trials, grid, slices
  std::vector<float> labels_;   ///< of the trials
  std::vector<size_t> widths_;
  size_t rows_ = 0, grid_ = 0;
  int threads_;
  size_t columns_;
};

/// The fastest of some trials with each value of a resource.
std::vector<double> best_by_value(const ResourceTable& table, size_t resource, const std::vector<size_t>& chosen) {
  std::vector<double> best(table.resources[resource].values.size(), 0.0);
  for (const size_t row : chosen) {
    double& b = best[table.rows[row].at[resource]];
    b = std::max(b, table.rows[row].speed);
  }
  return best;
}

/// Where refits lack a value, as may be among drawn trials, they say nothing of it.
void close(ResourceCurve& curve) {
  curve.low = curve.high = curve.middle;
  for (size_t i = 0; i < curve.middle.size(); ++i) {
    std::vector<double> values;
    for (const auto& refit : curve.refits)
      if (refit[i] > 0) values.push_back(refit[i]);
    if (values.empty()) continue;
    std::sort(values.begin(), values.end());
    curve.low[i] = std::min(curve.middle[i], quantile_of(values, kTail));
    curve.high[i] = std::max(curve.middle[i], quantile_of(values, 1 - kTail));
  }
}

std::optional<size_t> knee_place(const std::vector<double>& axis, const std::vector<double>& speeds) {
  std::vector<double> x, y;
  std::vector<size_t> places;
  for (size_t i = 0; i < axis.size(); ++i)
    if (speeds[i] > 0) x.push_back(axis[i]), y.push_back(speeds[i]), places.push_back(i);
  const auto at = knee(x, y);
  return at ? std::optional(places[*at]) : std::nullopt;
}

std::optional<ResourceKnee> knee_of(const Resource& resource, const ResourceCurve& curve) {
  if (!resource.numbers) return std::nullopt;
  const std::vector<double> axis = axis_of(resource.values);
  const auto at = knee_place(axis, curve.middle);
  if (!at) return std::nullopt;
  // A rise that redrawing the trials may undo has no place where it bends.
  const auto peak = static_cast<size_t>(std::max_element(curve.middle.begin(), curve.middle.end()) - curve.middle.begin());
  const auto first = static_cast<size_t>(std::find_if(curve.middle.begin(), curve.middle.end(), [](double v) { return v > 0; }) - curve.middle.begin());
  if (curve.low[peak] <= curve.high[first]) return std::nullopt;
  std::vector<double> found;
  for (const auto& refit : curve.refits)
    if (const auto place = knee_place(axis, refit)) found.push_back(resource.values[*place]);
  ResourceKnee k{resource.values[*at], resource.values[*at], resource.values[*at], 0};
  if (found.empty()) return k;
  std::sort(found.begin(), found.end());
  k.low = std::min(k.at, quantile_of(found, kTail)), k.high = std::max(k.at, quantile_of(found, 1 - kTail));
  k.share = static_cast<double>(found.size()) / static_cast<double>(curve.refits.size());
  return k;
}

/// The values of each resource that the grid has.
std::vector<std::vector<size_t>> thinned_places(const ResourceTable& table, size_t most_points) {
  std::vector<std::vector<size_t>> kept;
  for (const Resource& r : table.resources) {
    std::vector<size_t>& places = kept.emplace_back();
    for (size_t i = 0; i < r.values.size(); ++i) places.push_back(i);
  }
  const auto points = [&] {
    double n = 1;
    for (const auto& places : kept) n *= static_cast<double>(places.size());
    return n;
  };
  while (points() > static_cast<double>(most_points)) {
    auto& longest = *std::max_element(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (longest.size() < 3) break;
    std::vector<size_t> half;
    for (size_t i = 0; i < longest.size(); i += 2) half.push_back(longest[i]);
    longest = std::move(half);
  }
  return kept;
}

std::vector<Places> grid_of(const std::vector<std::vector<size_t>>& kept) {
  std::vector<Places> grid{Places(kept.size(), 0)};
  size_t count = 1;
  for (const auto& places : kept) count *= places.size();
  grid.resize(count, Places(kept.size(), 0));
  for (size_t p = 0; p < count; ++p) {
    size_t rest = p;
    for (size_t i = 0; i < kept.size(); ++i) grid[p][i] = kept[i][rest % kept[i].size()], rest /= kept[i].size();
  }
  return grid;
}

/// Means over the grid as speeds, for every value: one that the grid leaves out has its lower neighbour's.
std::vector<double> partial_of(const std::vector<double>& means, const std::vector<size_t>& places, size_t width) {
  std::vector<double> out(width);
  size_t k = 0;
  for (size_t i = 0; i < width; ++i) {
    while (k + 1 < places.size() && places[k + 1] <= i) ++k;
    out[i] = std::exp(means[k]);
  }
  return out;
}

std::vector<double> exponentials(std::vector<double> values) {
  for (double& v : values) v = std::exp(v);
  return values;
}

}  // namespace

Expected<ResourceEffects> resource_effects(const ResourceTable& table, const EffectOptions& options, const StopToken& stop) {
  if (table.rows.size() < kLeastRows) return Error(ErrorCode::invalid_argument, fmt::format("Expected at least {} trials with a time, found {}", kLeastRows, table.rows.size()));
  if (std::none_of(table.resources.begin(), table.resources.end(), [](const Resource& r) { return r.values.size() > 1; }))
    return Error(ErrorCode::invalid_argument, "Expected a resource of at least two values, found none");
  ResourceEffects out;
  for (size_t r = 1; r < table.rows.size(); ++r)
    if (table.rows[r].speed > table.rows[out.fastest].speed) out.fastest = r;
  const auto kept = thinned_places(table, options.most_points);
  double points = 1;
  for (const auto& places : kept) points *= static_cast<double>(places.size());
  if (points > kMostPoints)
    return Error(ErrorCode::resource_limit, fmt::format("Expected resources with at most {:.0f} points where each has two or three values left, found {} resources with {:.3g}", kMostPoints, kept.size(), points));
  const std::vector<Places> grid = grid_of(kept);
  out.grid_points = grid.size();
  std::vector<size_t> sizes;
  for (const auto& places : kept) sizes.push_back(places.size());
  std::vector<Places> slices;
  for (size_t i = 0; i < table.resources.size(); ++i)
    for (size_t v = 0; v < table.resources[i].values.size(); ++v) {
      slices.push_back(table.rows[out.fastest].at);
      slices.back()[i] = v;
    }
  const Trees trees(table, grid, slices, options.threads);
  const size_t count = table.rows.size(), resources = table.resources.size();
  std::vector<size_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = i;
  out.effects.resize(resources);
  std::vector<std::vector<double>> shares(resources);
  Rng rng(options.seed);
  std::vector<double> truth;
  std::vector<float> unseen;
  for (int refit = -1; refit < options.refits; ++refit) {
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "The analysis was cancelled");
    std::vector<size_t> chosen = all;
    if (refit >= 0)
      for (size_t& row : chosen) row = static_cast<size_t>(rng.uniform(count));
    TW_TRY(const Fitted fitted, trees.fit(chosen));
    const GridVariance variance = grid_variance(sizes, fitted.grid, refit < 0);
    for (size_t i = 0; i < resources; ++i) {
      ResourceEffect& e = out.effects[i];
      const std::vector<double> partial = partial_of(variance.means[i], kept[i], table.resources[i].values.size());
      if (refit < 0) {
        e.slice.middle = exponentials(fitted.slices[i]), e.partial.middle = partial, e.best.middle = best_by_value(table, i, all), e.importance = variance.single[i];
        continue;
      }
      e.slice.refits.push_back(exponentials(fitted.slices[i])), e.partial.refits.push_back(partial), e.best.refits.push_back(best_by_value(table, i, chosen));
      shares[i].push_back(variance.single[i]);
    }
    if (refit < 0) {
      for (const GridVariance::Pair& p : variance.pairs) out.pairs.push_back({p.a, p.b, p.share});
      std::stable_sort(out.pairs.begin(), out.pairs.end(), [](const ResourcePair& a, const ResourcePair& b) { return a.share > b.share; });
      continue;
    }
    std::vector<bool> seen(count, false);
    for (const size_t row : chosen) seen[row] = true;
    for (size_t row = 0; row < count; ++row)
      if (!seen[row]) truth.push_back(std::log(table.rows[row].speed)), unseen.push_back(static_cast<float>(fitted.rows[row]));
  }
  out.r_squared = r_squared(truth, unseen);
  for (size_t i = 0; i < resources; ++i) {
    ResourceEffect& e = out.effects[i];
    for (ResourceCurve* curve : {&e.slice, &e.partial, &e.best}) close(*curve);
    e.slice_knee = knee_of(table.resources[i], e.slice);
    e.partial_knee = knee_of(table.resources[i], e.partial);
    e.best_knee = knee_of(table.resources[i], e.best);
    std::sort(shares[i].begin(), shares[i].end());
    e.importance_low = shares[i].empty() ? e.importance : std::min(e.importance, quantile_of(shares[i], kTail));
    e.importance_high = shares[i].empty() ? e.importance : std::max(e.importance, quantile_of(shares[i], 1 - kTail));
    e.measured.assign(table.resources[i].values.size(), 0.0);
    e.best_row.assign(table.resources[i].values.size(), std::nullopt), e.measured_row = e.best_row;
    for (size_t r = 0; r < count; ++r) {
      const ResourceTable::Row& row = table.rows[r];
      const size_t at = row.at[i];
      if (!e.best_row[at] || row.speed > table.rows[*e.best_row[at]].speed) e.best_row[at] = r;
      Places others = row.at;
      others[i] = table.rows[out.fastest].at[i];
      if (others == table.rows[out.fastest].at && row.speed > e.measured[at]) e.measured[at] = row.speed, e.measured_row[at] = r;
    }
  }
  return out;
}

namespace {

struct Side {
  double at = 0;
  bool second = false;
};

/// Where the sign of the logarithm of first ÷ second changes.
std::vector<Side> sides(const std::vector<double>& values, const std::vector<double>& axis, const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<Side> out;
  std::optional<size_t> before;
  const auto ahead = [&](size_t i) { return std::log(second[i] / first[i]); };
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(first[i] > 0 && second[i] > 0) || ahead(i) == 0) continue;  // where both are as fast, nobody has won yet
    if (before && (ahead(*before) > 0) != (ahead(i) > 0)) {
      const double share = ahead(*before) / (ahead(*before) - ahead(i));
      const double at = axis[*before] + share * (axis[i] - axis[*before]);
      out.push_back({axis == values ? at : std::exp2(at), ahead(i) > 0});
    }
    before = i;
  }
  return out;
}

}  // namespace

std::vector<Crossing> crossings(const std::vector<double>& values, const ResourceCurve& first, const ResourceCurve& second) {
  const std::vector<double> axis = axis_of(values);
  std::vector<Crossing> out;
  const size_t refits = std::min(first.refits.size(), second.refits.size());
  for (const Side& side : sides(values, axis, first.middle, second.middle)) {
    Crossing c{side.at, side.at, side.at, 0, side.second};
    std::vector<double> found;
    for (size_t r = 0; r < refits; ++r) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const Side& s : sides(values, axis, first.refits[r], second.refits[r]))
        if (s.second == side.second && std::abs(s.at - side.at) < std::abs(nearest - side.at)) nearest = s.at;
      if (std::isfinite(nearest)) found.push_back(nearest);
    }
    if (!found.empty()) {
      std::sort(found.begin(), found.end());
      c.low = std::min(c.at, quantile_of(found, kTail)), c.high = std::max(c.at, quantile_of(found, 1 - kTail));
      c.share = static_cast<double>(found.size()) / static_cast<double>(refits);
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace tw::cost
