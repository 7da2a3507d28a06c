// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/space/config_space.h"
#include "engine/tune/strategy.h"

/// Spaces of which every point was measured: for tests and benchmarks of search strategies.
namespace tw::recorded {

/// A space of which every point was measured, with its definition: searches in it need no template and no machine.
struct RecordedSpace {
  std::string name;             ///< of the task
  std::string where;            ///< target and date of the measurement
  space::ConfigSpace space;     ///< points that the template's filters reject are rejected by a filter here too
  std::vector<double> seconds;  ///< by index: infinity for points that failed or that a filter rejects
  std::vector<bool> rejected;   ///< by index: by a filter
  double best_s() const;
  /// Points that are so near to the optimum (0.95: within 5 %).
  int64_t good_points(double share) const;
  /// Points that no filter rejects.
  int64_t valid_points() const { return std::count(rejected.begin(), rejected.end(), false); }
};

namespace detail {

inline Json knob_json(const space::Knob& knob) {
  Json candidates = Json::array();
  for (const space::KnobValue& v : knob.candidates) {
    switch (knob.kind) {
      case space::KnobKind::split:
        candidates.push_back(v.split);
        break;
      case space::KnobKind::reorder:
        candidates.push_back(v.reorder);
        break;
      case space::KnobKind::annotate:
        candidates.push_back(v.annotate);
        break;
      case space::KnobKind::other:
        candidates.push_back(v.other);
        break;
    }
  }
  return {{"name", knob.name}, {"kind", space::knob_kind_code(knob.kind)}, {"extent", knob.extent}, {"candidates", candidates}};
}

inline void define(space::ConfigSpace& space, const Json& knob) {
  const auto name = knob.at("name").get<std::string>(), kind = knob.at("kind").get<std::string>();
  const Json& candidates = knob.at("candidates");
  if (kind == "sp") {
    space::SplitOptions options;
    options.policy = "candidate";
    options.candidates = candidates.get<std::vector<std::vector<int64_t>>>();
    options.num_outputs = options.candidates.empty() ? 2 : static_cast<int>(options.candidates.front().size());
    space.define_split(name, knob.at("extent").get<int64_t>(), options);
  } else if (kind == "re") {
    const auto orders = candidates.get<std::vector<std::vector<int>>>();
    space.define_reorder(name, orders.empty() ? 0 : static_cast<int>(orders.front().size()), "candidate", orders);
  } else if (kind == "an") {
    const auto words = candidates.get<std::vector<std::vector<std::string>>>();
    space.define_annotate(name, words.empty() ? 0 : static_cast<int>(words.front().size()), "candidate", words);
  } else {
    space.define_knob(name, candidates.get<std::vector<Json>>());
  }
}

/// Four digits: more than a repeated measurement agrees in.
inline double rounded_us(double seconds) {
  const double us = seconds * 1e6, scale = std::pow(10.0, 3 - std::floor(std::log10(us)));
  return std::round(us * scale) / scale;
}

}  // namespace detail

inline double RecordedSpace::best_s() const { return *std::min_element(seconds.begin(), seconds.end()); }

inline int64_t RecordedSpace::good_points(double share) const {
  return std::count_if(seconds.begin(), seconds.end(), [limit = best_s() / share](double s) { return s <= limit; });
}

/// The document holds the knobs with all their candidates, and times in microseconds of four digits: 0 for failures, null for rejected points.
inline Json to_json(const RecordedSpace& r) {
  Json knobs = Json::array(), us = Json::array();
  for (const space::Knob& k : r.space.knobs()) knobs.push_back(detail::knob_json(k));
  for (size_t i = 0; i < r.seconds.size(); ++i) {
    us.push_back(r.rejected[i] ? Json(nullptr) : std::isfinite(r.seconds[i]) ? Json(detail::rounded_us(r.seconds[i])) : Json(0));
  }
  return {{"name", r.name}, {"where", r.where}, {"knobs", knobs}, {"us", us}};
}

/// Errors: parse_error for a document of another form.
inline Expected<RecordedSpace> recorded_space_from_json(const Json& document) {
  RecordedSpace r;
  try {
    r.name = document.at("name").get<std::string>();
    r.where = document.at("where").get<std::string>();
    for (const Json& knob : document.at("knobs")) detail::define(r.space, knob);
    for (const Json& us : document.at("us")) {
      r.rejected.push_back(us.is_null());
      const double value = us.is_null() ? 0 : us.get<double>();
      r.seconds.push_back(value > 0 ? value * 1e-6 : INFINITY);
    }
  } catch (const Json::exception& e) {
    return Error(ErrorCode::parse_error, fmt::format("Expected a recorded space, found another document: {}", e.what()));
  }
  if (static_cast<int64_t>(r.seconds.size()) != r.space.size() || !std::isfinite(r.best_s())) {
    return Error(ErrorCode::parse_error,
                 fmt::format("Expected a time for each of {} points and one success, found {} times", r.space.size(), r.seconds.size()));
  }
  r.space.add_filter([rejected = r.rejected](const space::ConfigEntity& e) { return !rejected[static_cast<size_t>(e.index())]; },
                     "rejected when it was recorded");
  return r;
}

/// What was measured of a point, as a strategy is told it.
inline tune::Observation recorded_answer(const RecordedSpace& r, int64_t point) {
  const double s = r.seconds[static_cast<size_t>(point)];
  tune::Observation o{point, {}};
  o.result.status = std::isfinite(s) ? records::Status::ok : records::Status::build_fail;
  if (std::isfinite(s)) o.result.samples_s = {s};
  return o;
}

/// Asks a strategy for eight points at a time and answers with what was recorded, until it has none left or `enough` says so of a point; its trials.
template <class Enough>
int search(const RecordedSpace& r, tune::PointSearch& strategy, Enough enough) {
  int trials = 0;
  for (;;) {
    const std::vector<int64_t> points = strategy.propose(8);
    if (points.empty()) return trials;
    std::vector<tune::Observation> answers;
    for (const int64_t p : points) {
      ++trials;
      if (enough(p)) return trials;
      answers.push_back(recorded_answer(r, p));
    }
    strategy.observe(answers);
  }
}

inline std::unique_ptr<tune::PointSearch> searcher(const RecordedSpace& r, const tune::StrategyDef& def, const Json& params, uint64_t seed) {
  return def.make_points({r.space, resolve_params(def.params, params).value(), Rng(seed)});
}

/// Trials until a strategy's best is so near to the optimum.
inline int trials_to_reach(const RecordedSpace& r, const tune::StrategyDef& def, const Json& params, double share, uint64_t seed) {
  return search(r, *searcher(r, def, params, seed), [&, good_s = r.best_s() / share](int64_t p) { return r.seconds[static_cast<size_t>(p)] <= good_s; });
}

/// The first so many points that a strategy asks for, as text.
inline std::string asked_points(const RecordedSpace& r, tune::PointSearch& strategy, int trials) {
  std::string points;
  int asked = 0;
  search(r, strategy, [&](int64_t p) {
    points += fmt::format("{} ", p);
    return ++asked == trials;
  });
  return points;
}

/// The median for points drawn at random, none twice: the first number of trials that has found a good one at least as often as not. It follows from the
/// counts; the median of a few seeds scatters widely around it.
inline int random_median_trials(const RecordedSpace& r, double share) {
  const auto points = static_cast<double>(r.valid_points()), good = static_cast<double>(r.good_points(share));
  int trials = 0;
  for (double none = 1; none > 0.5; ++trials) none *= (points - good - trials) / (points - trials);
  return trials;
}

/// The median over the seeds 1 to `seeds`.
inline double median_trials(const RecordedSpace& r, const tune::StrategyDef& def, const Json& params, double share, int seeds) {
  std::vector<int> trials;
  for (int seed = 1; seed <= seeds; ++seed) trials.push_back(trials_to_reach(r, def, params, share, static_cast<uint64_t>(seed)));
  std::sort(trials.begin(), trials.end());
  const size_t half = trials.size() / 2;
  return trials.size() % 2 == 1 ? trials[half] : (trials[half - 1] + trials[half]) / 2.0;
}

}  // namespace tw::recorded
