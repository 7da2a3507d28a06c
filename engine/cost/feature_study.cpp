// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/feature_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "engine/base/curve_band.h"
#include "engine/base/rng.h"
#include "engine/base/worker_pool.h"
#include "engine/cost/cost_model.h"
#include "engine/cost/metrics.h"

namespace tw::cost {
namespace {

constexpr double kEnough = 0.05;  ///< slower than the fastest
constexpr int kDraws = 2000;
constexpr double kStudyTail = 0.05;
constexpr const char* kModel = "boosted-trees";
constexpr const char* kFeature = "knob";

using Columns = std::vector<bool>;  ///< which of them a predictor is told

/// Facts or properties that are told together, and all of a kind.
struct Item {
  std::string name;
  FeatureKind kind = FeatureKind::hardware;
  bool is_group = false;
  Columns columns;
};

/// For each task the place of a column's value among all values of it: what trees see.
std::vector<size_t> places_of(const StudyTable& table, size_t column) {
  std::vector<float> values;
  for (const StudyTable::Task& t : table.tasks) values.push_back(t.candidates.front().features[column]);
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<size_t> places;
  for (const float v : values) places.push_back(static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), v) - sorted.begin()));
  return places;
}

/// Groups, then what changes alike, of one kind; empty where nothing changes.
std::vector<Item> items_of(const StudyTable& table, FeatureKind kind) {
  std::vector<Item> out;
  std::map<std::vector<size_t>, size_t> known;
  Item all{kind == FeatureKind::hardware ? "all hardware facts" : "all operator properties", kind, true, Columns(table.columns.size(), false)};
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].kind != kind) continue;
    const std::vector<size_t> places = places_of(table, c);
    if (std::all_of(places.begin(), places.end(), [&](size_t p) { return p == places.front(); })) continue;
    all.columns[c] = true;
    const auto [same, is_new] = known.emplace(places, out.size());
    if (is_new)
      out.push_back({table.columns[c].name, kind, false, Columns(table.columns.size(), false)});
    else
      out[same->second].name += ", " + table.columns[c].name;
    out[same->second].columns[c] = true;
  }
  if (out.size() == 1) out.front().is_group = true;
  if (out.size() > 1) out.insert(out.begin(), all);
  return out;
}

Columns either(Columns a, const Columns& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}
Columns without(Columns a, const Columns& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] && !b[i];
  return a;
}

FeatureRows study_row(const StudyTable::Candidate& candidate, const Columns& told) {
  FeatureRows rows;
  for (size_t c = 0; c < told.size(); ++c)
    if (told[c]) rows.values.push_back(candidate.features[c]);
  return rows;
}

double study_speed(const StudyTable::Candidate& c) { return std::isfinite(c.seconds) && c.seconds > 0 ? 1 / c.seconds : 0; }

/// One refit: which trials it learns from, in the order of the table, and its seed.
struct Draw {
  std::vector<std::vector<size_t>> chosen;
  uint64_t seed = 0;
};

Expected<StudyScore> score(const StudyTable& table, size_t left_out, const Columns& told, const Draw& draw, const StopToken& stop) {
  Dataset train, test;
  for (size_t t = 0; t < table.tasks.size(); ++t) {
    const StudyTable::Task& task = table.tasks[t];
    const std::string key = std::to_string(t);
    if (task.device != left_out)
      for (const size_t i : draw.chosen[t]) train.add(key, study_row(task.candidates[i], told), study_speed(task.candidates[i]));
    else
      for (const StudyTable::Candidate& c : task.candidates) test.add(key, study_row(c, told), study_speed(c));
  }
  const ModelDef& def = *find_model(kModel);
  TW_TRY(const Json params, resolve_params(def.params, Json{{"tree_method", "hist"}}));  // knobs have few values, so that bins part them as well
  const auto model = def.make(def, *find_feature(kFeature), params);
  TW_CHECK(model->fit(train, {.seed = draw.seed, .margins = {}, .stop = stop}));
  TW_TRY(const std::vector<float> predicted, model->predict(test.matrix()));
  std::vector<std::vector<double>> seconds;
  for (const StudyTable::Task& task : table.tasks) {
    if (task.device != left_out) continue;
    std::vector<double>& times = seconds.emplace_back();
    for (const StudyTable::Candidate& c : task.candidates) times.push_back(c.seconds);
  }
  std::vector<JudgedTask> judged;
  StudyScore s;
  size_t at = 0;
  for (const std::vector<double>& times : seconds) {
    const std::span<const float> scores = std::span(predicted).subspan(at, times.size());
    judged.push_back({1, times, scores});
    s.trials += std::log(trials_to_reach(times, scores, kEnough)) / static_cast<double>(seconds.size());
    at += times.size();
  }
  const Quality q = quality(judged, test.labels(), predicted);
  s.pairs = q.pairs, s.best_of_8 = q.best_of_8, s.trials = std::exp(s.trials);
  return s;
}

/// What differs between two sets of features, by device and refit.
using Differences = std::vector<std::vector<double>>;

StudyGain gain_of(const Differences& by_device, Rng rng) {
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
  };
  std::vector<double> means;
  for (const auto& refits : by_device) means.push_back(mean(refits));
  StudyGain g;
  g.mean = mean(means);
  std::vector<double> drawn;
  for (int d = 0; d < kDraws; ++d) {
    double sum = 0;
    for (size_t k = 0; k < by_device.size(); ++k) {
      const auto& refits = by_device[static_cast<size_t>(rng.uniform(by_device.size()))];
      for (size_t r = 0; r < refits.size(); ++r) sum += refits[static_cast<size_t>(rng.uniform(refits.size()))] / static_cast<double>(refits.size());
    }
    drawn.push_back(sum / static_cast<double>(by_device.size()));
  }
  std::sort(drawn.begin(), drawn.end());
  g.low = std::min(g.mean, quantile_of(drawn, kStudyTail)), g.high = std::max(g.mean, quantile_of(drawn, 1 - kStudyTail));
  return g;
}

using Scores = std::vector<std::vector<StudyScore>>;  ///< by device and refit

StudyGain pairs_gain(const Scores& with, const Scores& without_it, uint64_t seed) {
  Differences d;
  for (size_t k = 0; k < with.size(); ++k) {
    auto& refits = d.emplace_back();
    for (size_t r = 0; r < with[k].size(); ++r) refits.push_back(with[k][r].pairs - without_it[k][r].pairs);
  }
  return gain_of(d, Rng(seed));
}

StudyGain trials_gain(const Scores& with, const Scores& without_it, uint64_t seed) {
  Differences d;
  for (size_t k = 0; k < with.size(); ++k) {
    auto& refits = d.emplace_back();
    for (size_t r = 0; r < with[k].size(); ++r) refits.push_back(std::log(with[k][r].trials / without_it[k][r].trials));
  }
  const StudyGain g = gain_of(d, Rng(seed));
  return {std::exp(g.mean), std::exp(g.low), std::exp(g.high)};
}

StudyScore mean_score(std::span<const StudyScore> scores) {
  StudyScore m;
  const double n = static_cast<double>(scores.size());
  for (const StudyScore& s : scores) m.pairs += s.pairs / n, m.best_of_8 += s.best_of_8 / n, m.trials += std::log(s.trials) / n;
  m.trials = std::exp(m.trials);
  return m;
}

/// Leaves tasks in which something ran, and devices that have such tasks.
StudyTable usable(const StudyTable& table) {
  StudyTable out = table;
  std::erase_if(out.tasks, [](const StudyTable::Task& t) {
    return std::none_of(t.candidates.begin(), t.candidates.end(), [](const auto& c) { return study_speed(c) > 0; });
  });
  std::vector<std::optional<size_t>> place(table.devices.size());
  out.devices.clear();
  for (StudyTable::Task& t : out.tasks) {
    auto& p = place[t.device];
    if (!p) p = out.devices.size(), out.devices.push_back(table.devices[t.device]);
    t.device = *p;
  }
  return out;
}

}  // namespace

Surely surely(const FeatureWorth& w) {
  if (w.pairs_alone.low > 0) return Surely::helps;
  if (w.pairs_alone.high < 0) return Surely::harms;
  if (w.trials_alone.high < 1) return Surely::helps;
  return w.trials_alone.low > 1 ? Surely::harms : Surely::open;
}

Expected<FeatureStudy> feature_study(const StudyTable& given, const StudyOptions& options, const StopToken& stop) {
  const StudyTable table = usable(given);
  const size_t devices = table.devices.size();
  if (devices < 2)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected trials of at least two devices, of which one is left out at a time, found {}", devices));
  if (std::none_of(table.columns.begin(), table.columns.end(), [](const StudyTable::Column& c) { return c.kind == FeatureKind::schedule; }))
    return Error(ErrorCode::invalid_argument, "Expected knobs of the schedule to learn from, found none");
  FeatureStudy out;
  out.with_hardware = devices > 2, out.refits = options.refits;
  std::vector<Item> items = out.with_hardware ? items_of(table, FeatureKind::hardware) : std::vector<Item>();
  for (Item& item : items_of(table, FeatureKind::property)) items.push_back(std::move(item));
  if (items.empty()) {
    return Error(ErrorCode::invalid_argument,
                 out.with_hardware
                     ? "Expected hardware facts or operator properties that differ between tasks, found none"
                     : "Expected at least three devices, or several shapes, found two devices: hardware facts never change on the one that is learned from");
  }
  Columns schedule(table.columns.size()), all(table.columns.size());
  for (size_t c = 0; c < schedule.size(); ++c) schedule[c] = table.columns[c].kind == FeatureKind::schedule;
  all = schedule;
  for (const Item& item : items) all = either(all, item.columns);

  // Every set of features once.
  std::map<Columns, size_t> sets;
  const auto want = [&](const Columns& c) { sets.emplace(c, 0); };
  want(schedule), want(all);
  for (const Item& item : items) want(either(schedule, item.columns)), want(without(all, item.columns));
  std::vector<Columns> told;
  for (auto& [columns, place] : sets) place = told.size(), told.push_back(columns);

  Rng rng(options.seed);
  std::vector<Draw> draws;  // by device, then refit
  for (size_t k = 0; k < devices * static_cast<size_t>(options.refits); ++k) {
    Draw& draw = draws.emplace_back();
    draw.seed = rng.next();
    for (const StudyTable::Task& t : table.tasks) {
      auto& chosen = draw.chosen.emplace_back(t.candidates.size());
      for (size_t& i : chosen) i = static_cast<size_t>(rng.uniform(t.candidates.size()));
    }
  }
  const auto refits = static_cast<size_t>(options.refits);
  WorkerPool pool(options.threads);
  const auto results = pool.map(
      told.size() * draws.size(), [&](size_t n) { return score(table, n % draws.size() / refits, told[n / draws.size()], draws[n % draws.size()], stop); },
      stop);
  std::vector<Scores> scores(told.size(), Scores(devices));
  for (size_t n = 0; n < results.size(); ++n) {
    if (stop.stop_requested() || !results[n]) return Error(ErrorCode::cancelled, "The analysis was cancelled");
    TW_TRY(const StudyScore s, *results[n]);
    scores[n / draws.size()][n % draws.size() / refits].push_back(s);
  }
  const auto of = [&](const Columns& c) -> const Scores& { return scores[sets.at(c)]; };
  for (const Item& item : items) {
    FeatureWorth w{item.name, item.kind, item.is_group, {}, {}, {}, {}};
    const Scores &with = of(either(schedule, item.columns)), &rest = of(without(all, item.columns));
    w.pairs_alone = pairs_gain(with, of(schedule), options.seed), w.pairs_beside = pairs_gain(of(all), rest, options.seed);
    w.trials_alone = trials_gain(with, of(schedule), options.seed), w.trials_beside = trials_gain(of(all), rest, options.seed);
    out.worths.push_back(std::move(w));
  }
  std::stable_sort(out.worths.begin(), out.worths.end(), [](const FeatureWorth& a, const FeatureWorth& b) { return a.pairs_alone.mean > b.pairs_alone.mean; });
  std::vector<StudyScore> by_schedule, by_all;
  double chance = 0;
  for (size_t k = 0; k < devices; ++k) {
    FeatureStudy::Device d{table.devices[k], mean_score(of(schedule)[k]), mean_score(of(all)[k]), 0};
    size_t tasks = 0;
    for (const StudyTable::Task& t : table.tasks) {
      if (t.device != k) continue;
      std::vector<double> seconds;
      for (const StudyTable::Candidate& c : t.candidates) seconds.push_back(c.seconds);
      d.chance += std::log(trials_to_reach(seconds, std::vector<float>(seconds.size(), 0.0F), kEnough));
      out.candidates += seconds.size(), ++tasks;
    }
    d.chance /= static_cast<double>(tasks);
    chance += d.chance / static_cast<double>(devices);
    d.chance = std::exp(d.chance);
    by_schedule.push_back(d.schedule), by_all.push_back(d.all);
    out.devices.push_back(std::move(d));
  }
  out.schedule = mean_score(by_schedule), out.all = mean_score(by_all), out.chance = std::exp(chance);
  return out;
}

}  // namespace tw::cost
