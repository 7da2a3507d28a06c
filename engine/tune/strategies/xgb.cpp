// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "engine/base/json.h"
#include "engine/cost/boosted_trees.h"
#include "engine/cost/features/features.h"
#include "engine/tune/annealing.h"
#include "engine/tune/strategies/strategies.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

struct XgbOptions {
  const cost::FeatureDef* feature = nullptr;
  cost::BoostingOptions trees;
  AnnealingOptions annealing;
  int plan_size = 64, first_plan = 16;
  double epsilon = 0.05;
  int diversity = 0;  ///< 0: off
  int transfer_samples = 500;
};

class Xgb : public Strategy {
 public:
  Xgb(const StrategyInput& in, const XgbOptions& options)
      : in_(in),
        options_(options),
        rng_(in.rng),
        annealing_(in.space, options.annealing, rng_.split()),
        next_fit_(static_cast<size_t>(std::min(options.first_plan, options.plan_size))) {}

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
    if (!model_ && (!base_ || fitted_to_ > 0)) return said;
    const std::vector<float> scores = predict(points, model_ ? &*model_ : nullptr);
    for (size_t i = 0; i < points.size(); ++i)
      if (scores[i] > kCannotRun) said[i] = records::Prediction{scores[i], fitted_to_};
    return said;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& o : results) {
      taken_.insert(o.index);
      const double seconds = o.result.seconds();
      samples_.push_back({o.index, o.result.ok() && seconds > 0 ? 1 / seconds : 0});
    }
  }

  /// A base model of other tasks, each with its speeds relative to its own fastest. Its favourites are the first plan; later its part fades.
  void transfer(std::span<const PriorTask* const> prior) override {
    std::vector<std::vector<float>> rows;
    std::vector<double> scores;
    for (const PriorTask* p : prior) {
      double fastest = 0;
      for (const Observation& o : p->results)
        if (o.result.ok() && o.result.seconds() > 0) fastest = std::max(fastest, 1 / o.result.seconds());
      for (const Observation& o : p->results) {
        if (fastest <= 0 || in_.stop.stop_requested()) break;
        auto row = options_.feature->extract({p->task.dag, p->task.target, *p->space_template, p->space, o.index});
        if (!row) continue;
        rows.push_back(std::move(*row));
        scores.push_back(o.result.ok() && o.result.seconds() > 0 ? 1 / o.result.seconds() / fastest : 0);
      }
    }
    if (rows.size() < static_cast<size_t>(options_.transfer_samples)) return;
    cost::BoostingOptions trees = options_.trees;
    trees.max_rounds = kBaseRounds;
    trees.patience = kBasePatience;
    trees.recall_top = 2 * options_.plan_size;
    trees.seed = rng_.next();
    auto model = cost::BoostedTrees::fit(cost::FeatureMatrix(rows), scores, trees);
    if (!model) return;
    base_ = std::make_unique<cost::BoostedTrees>(std::move(*model));
    if (!samples_.empty()) return;
    plan_with([&](std::span<const int64_t> points) { return predict(points, nullptr); });
  }

 private:
  struct Sample {
    int64_t point;
    double speed;  ///< runs per second, 0 for failures
  };

  static constexpr int kBaseRounds = 400, kBasePatience = 100;
  static constexpr double kLeastBase = 0.05;
  static constexpr float kCannotRun = -1e6F;  ///< what cannot be lowered is worse than anything measured

  /// The base model's part beside a model of that many samples: halves with every 64, and ends.
  double base_part() const {
    const double part = std::exp2(-static_cast<double>(fitted_to_) / 64);
    return base_ && part >= kLeastBase ? part : 0;
  }

  /// What the base model says of rows, faded; nothing if it has no part any more.
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

  /// A model of all samples and its favourites: first after a few samples, then each time they have doubled or another plan's worth has come.
  void make_plan() {
    if (samples_.size() < next_fit_) return;
    double fastest = 0;
    for (const Sample& s : samples_) fastest = std::max(fastest, s.speed);
    if (fastest <= 0) return;
    next_fit_ = samples_.size() + std::min(samples_.size(), static_cast<size_t>(options_.plan_size));
    next_ = 0;
    plan_.clear();
    std::vector<std::vector<float>> rows;
    std::vector<double> scores;
    for (const Sample& s : samples_) {
      const std::vector<float>* row = feature(s.point);
      if (row == nullptr) continue;
      rows.push_back(*row);
      scores.push_back(s.speed / fastest);
    }
    cost::BoostingOptions trees = options_.trees;
    trees.seed = rng_.next();
    const cost::FeatureMatrix x(rows);
    fitted_to_ = static_cast<int64_t>(samples_.size());
    model_.reset();
    auto model = cost::BoostedTrees::fit(x, scores, trees, margins(x));
    if (!model) return;  // nothing to learn from: the search stays random
    model_.emplace(std::move(*model));
    plan_with([&](std::span<const int64_t> points) { return predict(points, &*model_); });
  }

  /// Scores by `model`, on top of what the base model says; without one, by the base model alone.
  std::vector<float> predict(std::span<const int64_t> points, const cost::BoostedTrees* model) {
    std::vector<std::vector<float>> rows;
    std::vector<size_t> known;
    for (size_t i = 0; i < points.size() && !in_.stop.stop_requested(); ++i) {
      const std::vector<float>* row = is_valid_point(in_.space, points[i]) ? feature(points[i]) : nullptr;
      if (row == nullptr) continue;
      rows.push_back(*row);
      known.push_back(i);
    }
    std::vector<float> scores(points.size(), kCannotRun);
    const cost::FeatureMatrix x(rows);
    const auto predicted = model != nullptr ? model->predict(x, rows.empty() ? std::vector<float>() : margins(x)) : base_->predict(x);
    for (size_t i = 0; predicted && i < known.size(); ++i) scores[known[i]] = (*predicted)[i];
    return scores;
  }

  /// Features of a point, computed once; null if it cannot be lowered.
  const std::vector<float>* feature(int64_t point) {
    constexpr size_t kKept = 100'000;
    auto known = features_.find(point);
    if (known == features_.end()) {
      if (features_.size() >= kKept) features_.clear();
      auto made = options_.feature->extract({in_.task ? in_.task->dag : no_dag_, in_.task ? in_.task->target : no_target_,
                                             in_.space_template ? *in_.space_template : no_template_, in_.space, point});
      known = features_.emplace(point, made ? std::move(*made) : std::vector<float>()).first;
    }
    return known->second.empty() ? nullptr : &known->second;
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

  StrategyInput in_;
  XgbOptions options_;
  Rng rng_;
  Annealing annealing_;
  std::vector<Sample> samples_;
  std::unordered_set<int64_t> taken_;  ///< proposed or observed
  std::unordered_map<int64_t, std::vector<float>> features_;
  std::vector<int64_t> plan_;                 ///< best first
  std::unique_ptr<cost::BoostedTrees> base_;  ///< of other tasks; null if none
  std::optional<cost::BoostedTrees> model_;   ///< of the plan; null if there was nothing to learn from
  int64_t fitted_to_ = 0;                     ///< samples that it was fitted to, or tried to be
  size_t next_ = 0;
  size_t next_fit_;  ///< samples from which on the next model is fitted
  // For spaces without a task: features that only read knobs never look at them.
  te::DagPtr no_dag_;
  Target no_target_;
  space::Template no_template_{};
};

std::unique_ptr<Strategy> make_xgb(const StrategyInput& in) {
  const Json& p = in.params;
  XgbOptions o;
  o.feature = cost::find_feature(p.at("feature").get<std::string>());
  TW_ASSERT(o.feature != nullptr, "the choices of 'feature' are the table's names");
  o.plan_size = p.at("plan_size").get<int>();
  o.first_plan = p.at("first_plan").get<int>();
  o.epsilon = p.at("epsilon").get<double>();
  o.diversity = p.at("diversity").get<int>();
  o.transfer_samples = p.at("transfer_samples").get<int>();
  o.annealing = {p.at("walkers").get<int>(), p.at("iterations").get<int>(), p.at("annealing_patience").get<int>(), p.at("temperature").get<double>(), 0};
  o.trees.loss = p.at("loss").get<std::string>() == "rank" ? cost::Loss::rank : cost::Loss::regression;
  o.trees.max_rounds = p.at("rounds").get<int>();
  o.trees.patience = p.at("patience").get<int>();
  o.trees.recall_top = o.plan_size;
  o.trees.max_depth = p.at("max_depth").get<int>();
  o.trees.eta = p.at("eta").get<double>();
  o.trees.gamma = p.at("gamma").get<double>();
  o.trees.min_child_weight = p.at("min_child_weight").get<double>();
  o.trees.lambda = p.at("lambda").get<double>();
  o.trees.alpha = p.at("alpha").get<double>();
  return std::make_unique<Xgb>(in, o);
}

Param choice(const char* name, const char* value, const char* help, std::vector<std::string> choices) {
  Param p;
  p.name = name;
  p.kind = Param::Kind::choice;
  p.default_value = value;
  p.help = help;
  p.choices = std::move(choices);
  return p;
}

Param number(const char* name, Param::Kind kind, Json value, const char* help, double min, double max) {
  Param p;
  p.name = name;
  p.kind = kind;
  p.default_value = std::move(value);
  p.help = help;
  p.min = min;
  p.max = max;
  return p;
}

}  // namespace

StrategyDef xgb_strategy() {
  constexpr auto kInt = Param::Kind::integer;
  constexpr auto kReal = Param::Kind::real;
  std::vector<std::string> names;
  for (const cost::FeatureDef& f : cost::features()) names.push_back(f.name);
  return {
      "xgb",
      {choice("feature", "knob", "what the model sees of a candidate", names), choice("loss", "rank", "what the trees minimise", {"rank", "reg"}),
       number("plan_size", kInt, 64, "candidates between two fits of the model, once there are as many", 1, 4096),
       number("first_plan", kInt, 16, "candidates before the first fit; then it is fitted each time they have doubled", 1, 4096),
       number("epsilon", kReal, 0.05, "share of each plan that is drawn at random", 0, 1),
       number("diversity", kInt, 0, "choose each plan from so many times its size for different knob values; 0 or 1: off", 0, 64),
       number("transfer_samples", kInt, 500, "trials of other tasks, where a session transfers, below which nothing is learned from them", 1, 1'000'000),
       number("walkers", kInt, 128, "points that anneal at the same time", 1, 65536),
       number("iterations", kInt, 500, "annealing steps for each plan", 1, 1'000'000),
       number("annealing_patience", kInt, 50, "annealing steps without a new favourite before it ends", 1, 1'000'000),
       number("temperature", kReal, 1.0, "at the first annealing step; falls to 0", 0, 1e6), number("rounds", kInt, 8000, "trees at most", 1, 100'000),
       number("patience", kInt, 20, "trees without a better recall of the training data before fitting ends", 1, 100'000),
       number("max_depth", kInt, 3, "of a tree", 1, 20), number("eta", kReal, 0.3, "learning rate", 1e-6, 1),
       number("gamma", kReal, 1e-4, "least gain of a split", 0, 1e6), number("min_child_weight", kReal, 1.0, "least weight of a leaf", 0, 1e6),
       number("lambda", kReal, 1.0, "quadratic penalty of leaf values", 0, 1e6), number("alpha", kReal, 0.0, "linear penalty of leaf values", 0, 1e6)},
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
