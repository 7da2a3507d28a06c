// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "engine/base/json.h"
#include "engine/base/worker_pool.h"
#include "engine/cost/cost_model.h"
#include "engine/tune/annealing.h"
#include "engine/tune/strategies/strategies.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

constexpr const char* kModel = "boosted-trees";

struct XgbOptions {
  const cost::FeatureDef* feature = nullptr;
  Json trees;  ///< the model's parameters
  AnnealingOptions annealing;
  int plan_size = 64, first_plan = 16;
  double epsilon = 0.05;
  int diversity = 0;  ///< 0: off
  int transfer_samples = 500;
};

double speed_of(const records::MeasureResult& r) { return r.ok() && r.seconds() > 0 ? 1 / r.seconds() : 0; }

std::unique_ptr<cost::CostModel> boosted_trees(const cost::FeatureDef& feature, const Json& params) {
  const cost::ModelDef& def = *cost::find_model(kModel);
  return def.make(def, feature, params);
}

class Xgb : public PointSearch {
 public:
  Xgb(const PointSearchInput& in, const XgbOptions& options)
      : in_(in),
        options_(options),
        rng_(in.rng),
        annealing_(in.space, options.annealing, rng_.split()),
        workers_(in.workers != nullptr ? *in.workers : alone_),
        learned_(in.shared_model != nullptr ? *in.shared_model : own_),
        next_fit_(static_cast<size_t>(std::min(options.first_plan, options.plan_size))) {
    if (in.shared_model == nullptr) own_.model = boosted_trees(*options.feature, options.trees);
  }

  std::vector<int64_t> propose(int n) override {
    make_plan();
    // The end of every plan is drawn at random instead: it keeps the model from believing only itself.
    const auto greedy = plan_.size() - std::min(plan_.size(), static_cast<size_t>(options_.epsilon * options_.plan_size));
    std::vector<int64_t> points;
    while (static_cast<int>(points.size()) < n) {
      while (next_ < greedy && taken_.contains(plan_[next_])) ++next_;
      const int64_t point = next_ < greedy ? plan_[next_] : fresh_point();
      if (point < 0) break;
      taken_.insert(point);
      points.push_back(point);
    }
    return points;
  }

  std::vector<std::optional<records::Prediction>> predictions(std::span<const int64_t> points) override {
    std::vector<std::optional<records::Prediction>> said(points.size());
    const bool by_base = !knows() && base_ && fitted_to_ == 0;
    if (!knows() && !by_base) return said;
    const cost::CostModel& model = by_base ? *base_ : *learned_.model;
    const std::vector<float> scores = predict(points, by_base);
    for (size_t i = 0; i < points.size(); ++i)
      if (scores[i] > kCannotRun) said[i] = records::Prediction{scores[i], fitted_to_, model.name()};
    return said;
  }

  void observe(std::span<const Observation> results) override {
    std::vector<int64_t> points;
    for (const Observation& o : results) points.push_back(o.index);
    extract(points);
    for (const Observation& o : results) {
      taken_.insert(o.index);
      ++observed_;
      fastest_ = std::max(fastest_, speed_of(o.result));
      if (const cost::FeatureRows* rows = feature(o.index)) learned_.data.add(in_.task ? in_.task->key : std::string(), *rows, speed_of(o.result));
    }
  }

  /// A base model of other tasks, each with its speeds relative to its own fastest. Its favourites are the first plan; later its part fades. A model that is
  /// shared has seen what the session did in other tasks anyway.
  void transfer(std::span<const PriorPoints> prior) override {
    if (in_.shared_model != nullptr) return;
    std::vector<std::pair<const PriorPoints*, const Observation*>> known;
    for (const PriorPoints& p : prior) {
      const bool ran = std::any_of(p.results.begin(), p.results.end(), [](const Observation& o) { return speed_of(o.result) > 0; });
      for (const Observation& o : p.results)
        if (ran) known.emplace_back(&p, &o);
    }
    auto rows = workers_.map(
        known.size(),
        [&](size_t i) {
          const PriorPoints& p = *known[i].first;
          return options_.feature->extract({p.task.dag, p.task.target, p.space_template, &p.space, known[i].second->index});
        },
        in_.stop);
    cost::Dataset data;
    for (size_t i = 0; i < known.size(); ++i)
      if (rows[i] && *rows[i]) data.add(known[i].first->task.key, **std::move(rows[i]), speed_of(known[i].second->result));
    if (data.size() < static_cast<size_t>(options_.transfer_samples)) return;
    Json trees = options_.trees;
    trees["rounds"] = kBaseRounds;
    trees["patience"] = kBasePatience;
    trees["recall_top"] = 2 * options_.plan_size;
    auto model = boosted_trees(*options_.feature, trees);
    if (!model->fit(data, {rng_.next(), {}, in_.stop})) return;
    base_ = std::move(model);
    if (observed_ > 0) return;
    plan_with([&](std::span<const int64_t> points) { return predict(points, true); });
  }

 private:
  static constexpr int kBaseRounds = 400, kBasePatience = 100;
  static constexpr double kLeastBase = 0.05;
  static constexpr float kCannotRun = -1e6F;  ///< what cannot be lowered is worse than anything measured

  bool knows() const { return learned_.model->samples() > 0; }

  /// The base model's part beside a model of that many samples: halves with every 64, and ends.
  double base_part() const {
    const double part = std::exp2(-static_cast<double>(fitted_to_) / 64);
    return base_ && part >= kLeastBase ? part : 0;
  }

  /// What the base model says of candidates, faded; nothing if it has no part any more.
  std::vector<float> margins(const cost::FeatureMatrix& x) const {
    const auto part = static_cast<float>(base_part());
    if (part <= 0) return {};
    auto predicted = base_->predict(x);
    if (!predicted) return {};
    for (float& value : *predicted) value *= part;
    return std::move(*predicted);
  }

  void plan_with(const Annealing::Score& score) {
    next_ = 0;
    plan_.clear();
    const std::vector<ScoredPoint> found = annealing_.maximise(options_.plan_size * std::max(options_.diversity, 1), score, taken_, in_.stop);
    for (const ScoredPoint& p : options_.diversity > 1 ? diverse(found) : found) plan_.push_back(p.point);
  }
  void plan_by_model() {
    plan_with([&](std::span<const int64_t> points) { return predict(points, false); });
  }

  /// A model of all samples and its favourites: first after a few samples, then each time they have doubled or another plan's worth has come. What a shared
  /// model knows from other tasks is the first plan.
  void make_plan() {
    if (in_.shared_model != nullptr && observed_ == 0 && plan_.empty() && knows()) {
      fitted_to_ = static_cast<int64_t>(learned_.model->samples());
      plan_by_model();
    }
    if (observed_ < next_fit_ || fastest_ <= 0) return;
    next_fit_ = observed_ + std::min(observed_, static_cast<size_t>(options_.plan_size));
    next_ = 0;
    plan_.clear();
    const uint64_t seed = rng_.next();
    fitted_to_ = static_cast<int64_t>(in_.shared_model != nullptr ? learned_.data.size() : observed_);
    if (!learned_.model->fit(learned_.data, {seed, margins(learned_.data.matrix()), in_.stop})) return;  // nothing to learn from: the search stays random
    plan_by_model();
  }

  /// Scores by the base model alone, or by the model on top of what that says.
  std::vector<float> predict(std::span<const int64_t> points, bool by_base) {
    std::vector<int64_t> valid;
    for (const int64_t p : points)
      if (is_valid_point(in_.space, p)) valid.push_back(p);
    extract(valid);
    std::vector<const cost::FeatureRows*> rows;
    std::vector<size_t> known;
    for (size_t i = 0, v = 0; i < points.size(); ++i) {
      if (v == valid.size() || valid[v] != points[i]) continue;
      ++v;
      const cost::FeatureRows* of_point = in_.stop.stop_requested() ? nullptr : feature(points[i]);
      if (of_point == nullptr) continue;
      rows.push_back(of_point);
      known.push_back(i);
    }
    std::vector<float> scores(points.size(), kCannotRun);
    if (rows.empty()) return scores;
    const cost::FeatureMatrix x(rows);
    const auto predicted = by_base ? base_->predict(x) : learned_.model->predict(x, margins(x));
    for (size_t i = 0; predicted && i < known.size(); ++i) scores[known[i]] = (*predicted)[i];
    return scores;
  }

  /// Looks at the features of points that are not known yet. Those of a stop's time stay unknown.
  void extract(std::span<const int64_t> points) {
    constexpr size_t kKept = 100'000;
    if (features_.size() >= kKept) features_.clear();
    std::vector<int64_t> unknown;
    for (const int64_t p : points)
      if (!features_.contains(p)) unknown.push_back(p);
    const te::DagPtr& dag = in_.task ? in_.task->dag : no_dag_;
    const Target& target = in_.task ? in_.task->target : no_target_;
    const auto extracted = [&](size_t i) { return options_.feature->extract({dag, target, in_.space_template, &in_.space, unknown[i]}); };
    auto rows = workers_.map(unknown.size(), extracted, in_.stop);
    for (size_t i = 0; i < unknown.size(); ++i)
      if (rows[i]) features_.emplace(unknown[i], *rows[i] ? **std::move(rows[i]) : cost::FeatureRows());
  }

  /// What extract() found; null if the point cannot be lowered.
  const cost::FeatureRows* feature(int64_t point) const {
    const auto known = features_.find(point);
    return known == features_.end() || known->second.values.empty() ? nullptr : &known->second;
  }

  /// A plan of candidates that show as many different knob values as possible: always the next that adds most, the better-scored first.
  std::vector<ScoredPoint> diverse(const std::vector<ScoredPoint>& found) const {
    std::vector<ScoredPoint> chosen;
    std::vector<bool> used(found.size(), false);
    std::set<std::pair<size_t, int>> seen;
    while (chosen.size() < static_cast<size_t>(options_.plan_size) && chosen.size() < found.size()) {
      size_t best = found.size();
      int most = -1;
      for (size_t i = 0; i < found.size(); ++i) {
        if (used[i]) continue;
        const std::vector<int> positions = in_.space.knob_positions(found[i].point);
        int fresh = 0;
        for (size_t k = 0; k < positions.size(); ++k) fresh += seen.contains({k, positions[k]}) ? 0 : 1;
        if (fresh > most) {
          most = fresh;
          best = i;
        }
      }
      used[best] = true;
      chosen.push_back(found[best]);
      const std::vector<int> positions = in_.space.knob_positions(found[best].point);
      for (size_t k = 0; k < positions.size(); ++k) seen.insert({k, positions[k]});
    }
    return chosen;
  }

  int64_t fresh_point() { return fresh_random_point(in_.space, taken_, rng_); }

  PointSearchInput in_;
  XgbOptions options_;
  Rng rng_;
  Annealing annealing_;
  WorkerPool alone_{1};
  WorkerPool& workers_;
  cost::SharedModel own_;        ///< unless the input has one
  cost::SharedModel& learned_;
  size_t observed_ = 0;
  double fastest_ = 0;                  ///< speed, 0 if nothing ran
  std::unordered_set<int64_t> taken_;  ///< proposed or observed
  std::unordered_map<int64_t, cost::FeatureRows> features_;  ///< without values for what cannot be lowered
  std::vector<int64_t> plan_;              ///< best first
  std::unique_ptr<cost::CostModel> base_;  ///< of other tasks; null if none
  int64_t fitted_to_ = 0;                  ///< samples that the model was fitted to, or tried to be
  size_t next_ = 0;
  size_t next_fit_;  ///< samples from which on the next model is fitted
  // For spaces without a task: features that only read knobs never look at them.
  te::DagPtr no_dag_;
  Target no_target_;
};

/// The model's parameters that are the tuner's too: all but how many of the best count, which is a plan's worth.
bool is_tuners(const Param& model_param) { return model_param.name != "recall_top"; }

std::unique_ptr<PointSearch> make_xgb(const PointSearchInput& in) {
  const Json& p = in.params;
  XgbOptions o;
  o.feature = in.shared_model != nullptr ? &in.shared_model->model->feature() : cost::find_feature(p.at("feature").get<std::string>());
  TW_ASSERT(o.feature != nullptr, "the choices of 'feature' are the table's names");
  o.plan_size = p.at("plan_size").get<int>();
  o.first_plan = p.at("first_plan").get<int>();
  o.epsilon = p.at("epsilon").get<double>();
  o.diversity = p.at("diversity").get<int>();
  o.transfer_samples = p.at("transfer_samples").get<int>();
  o.annealing = {p.at("walkers").get<int>(), p.at("iterations").get<int>(), p.at("annealing_patience").get<int>(), p.at("temperature").get<double>(), 0};
  for (const Param& param : cost::find_model(kModel)->params) o.trees[param.name] = is_tuners(param) ? p.at(param.name) : Json(o.plan_size);
  return std::make_unique<Xgb>(in, o);
}

}  // namespace

StrategyDef xgb_strategy() {
  constexpr auto kInt = Param::Kind::integer;
  constexpr auto kReal = Param::Kind::real;
  std::vector<std::string> names;
  for (const cost::FeatureDef& f : cost::features()) names.push_back(f.name);
  ParamSchema params = {
      choice_param("feature", "knob", "what the model sees of a candidate", names),
      number_param("plan_size", kInt, 64, "candidates between two fits of the model, once there are as many", 1, 4096),
      number_param("first_plan", kInt, 16, "candidates before the first fit; then it is fitted each time they have doubled", 1, 4096),
      number_param("epsilon", kReal, 0.05, "share of each plan that is drawn at random", 0, 1),
      number_param("diversity", kInt, 0, "choose each plan from so many times its size for different knob values; 0 or 1: off", 0, 64),
      number_param("transfer_samples", kInt, 500, "trials of other tasks, where a session transfers, below which nothing is learned from them", 1, 1'000'000),
      number_param("walkers", kInt, 128, "points that anneal at the same time", 1, 65536),
      number_param("iterations", kInt, 500, "annealing steps for each plan", 1, 1'000'000),
      number_param("annealing_patience", kInt, 50, "annealing steps without a new favourite before it ends", 1, 1'000'000),
      number_param("temperature", kReal, 1.0, "at the first annealing step; falls to 0", 0, 1e6)};
  for (const Param& p : cost::find_model(kModel)->params)
    if (is_tuners(p)) params.push_back(p);
  return {
      "xgb",
      std::move(params),
      nullptr,
      make_xgb,
      "Learns from every measurement with boosted trees which candidates are fast, looks for the model's favourites with simulated annealing, and measures "
      "those next; the last few of each plan are random. Until the first plan's worth of trials it draws at random, or follows a model of other tasks where a "
      "session transfers; that model's part halves with every 64 trials. Parameters and defaults are AutoTVM's, "
      "except that the first models are fitted after 16, 32 and 64 trials, which halves the trials that small spaces need, and that the features are the "
      "knobs: "
      "loop features cost a lowering for each of the some ten thousand points that annealing visits.",
      "Chen et al., \"Learning to optimize tensor programs\", NeurIPS 2018 (AutoTVM's XGBTuner)"};
}

}  // namespace tw::tune
