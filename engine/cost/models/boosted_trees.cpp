// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/cost/gradients.h"
#include "engine/cost/metrics.h"
#include "engine/cost/models/models.h"
#include "engine/cost/xgboost.h"

namespace tw::cost {
namespace {

enum class Loss : uint8_t { rank, regression };

struct BoostingOptions {
  Loss loss = Loss::rank;
  int max_rounds, patience, recall_top, growth, pairs;
  double least_weight;
  int threads;
};

/// The mean over the tasks of how well the best of each are found.
double mean_recall(std::span<const double> labels, std::span<const float> predicted, std::span<const size_t> group_sizes, int top) {
  double sum = 0;
  size_t begin = 0;
  for (const size_t size : group_sizes) {
    sum += average_recall(labels.subspan(begin, size), predicted.subspan(begin, size), top);
    begin += size;
  }
  return sum / static_cast<double>(group_sizes.size());
}

class BoostedTrees : public CostModel {
 public:
  BoostedTrees(const ModelDef& def, const FeatureDef& feature, const Json& p) : CostModel(def, feature, p) {
    o_.loss = p.at("loss").get<std::string>() == "rank" ? Loss::rank : Loss::regression;
    o_.max_rounds = p.at("rounds").get<int>();
    o_.patience = p.at("patience").get<int>();
    o_.recall_top = p.at("recall_top").get<int>();
    o_.growth = p.at("growth").get<int>();
    o_.pairs = p.at("pairs").get<int>();
    o_.least_weight = p.at("least_weight").get<double>();
    o_.threads = p.at("threads").get<int>();
  }

  Expected<void> fit(const Dataset& data, const FitInput& in) override {
    Expected<void> done = boost(data, in);
    if (!done) samples_ = 0;
    return done;
  }

  Expected<std::vector<float>> predict(const FeatureMatrix& x, std::span<const float> margins) const override {
    if (samples_ == 0) return Error(ErrorCode::not_applicable, "Expected a model that has learned, found one without any data");
    if (x.candidates() == 0) return std::vector<float>();
    TW_TRY(const xgboost::Matrix m, x.columns() == columns_ ? matrix(x, margins) : matrix(x.with_columns(columns_), margins));
    TW_TRY(const std::span<const float> values, booster_->predict(m, rounds_));
    return row_sums(values, x.begins());
  }

  size_t samples() const override { return samples_; }

 private:
  Expected<void> boost(const Dataset& data, const FitInput& in) {
    FeatureMatrix x = data.matrix();
    TW_ASSERT(in.margins.empty() || in.margins.size() == x.candidates(), "a margin for each sample");
    if (x.candidates() == 0 || x.columns() == 0) {
      return Error(ErrorCode::invalid_argument,
                   fmt::format("Expected features of some candidates to learn from, found {} rows of {} numbers", x.rows(), x.columns()));
    }
    const std::vector<double> labels = data.labels();
    const std::vector<size_t> groups = data.group_sizes();
    // XGBoost's own losses know no candidates of several rows.
    const bool own_loss = !x.one_row_each();
    const bool grows = o_.growth > 0 && samples_ > 0 && own_loss == own_loss_ && x.columns() <= columns_ && data.size() < 2 * from_nothing_;
    if (grows && x.columns() < columns_) x = x.with_columns(columns_);
    TW_TRY(xgboost::Matrix train, matrix(x, in.margins));
    if (!own_loss) {
      TW_CHECK(train.set("label", std::vector<float>(labels.begin(), labels.end())));
      if (o_.loss == Loss::rank) TW_CHECK(train.set_groups(groups));
      if (o_.loss == Loss::regression && o_.least_weight < 1) TW_CHECK(train.set("weight", weights(labels)));
    }
    const xgboost::Booster::Params params = xgboost_params(own_loss, in.seed);
    if (grows) {
      TW_TRY(xgboost::Booster kept, booster_->first(rounds_, params));
      booster_ = std::move(kept);
      TW_TRY(const std::span<const float> predicted, booster_->predict(train, 0));
      recall_ = mean_recall(labels, row_sums(predicted, x.begins()), groups, o_.recall_top);
    } else {
      TW_TRY(xgboost::Booster made, xgboost::Booster::make(train, params));
      booster_ = std::move(made);
      rounds_ = 0;
      columns_ = x.columns();
      own_loss_ = own_loss;
      from_nothing_ = data.size();
    }
    samples_ = data.size();

    Rng rng(in.seed);
    RowGradients gradients;
    const int begin = rounds_, end = begin + (grows ? o_.growth : o_.max_rounds);
    for (int round = begin; round < end && round < rounds_ + o_.patience && !(round > begin && in.stop.stop_requested()); ++round) {
      if (own_loss) {
        TW_TRY(const std::span<const float> rows, booster_->predict(train, 0));
        const std::vector<float> sums = row_sums(rows, x.begins());
        if (o_.loss == Loss::rank)
          pair_gradients(sums, labels, groups, o_.pairs, rng, x.begins(), gradients);
        else
          squared_gradients(sums, labels, o_.least_weight, x.begins(), gradients);
        TW_CHECK(booster_->boost(train, gradients.first, gradients.second));
      } else {
        TW_CHECK(booster_->update(round, train));
      }
      TW_TRY(const std::span<const float> rows, booster_->predict(train, 0));
      const double recall = mean_recall(labels, row_sums(rows, x.begins()), groups, o_.recall_top);
      if (round == 0 || recall > recall_) {
        recall_ = recall;
        rounds_ = round + 1;
      }
    }
    return {};
  }

  /// XGBoost's copy of rows; a candidate's margin is that of its first row.
  Expected<xgboost::Matrix> matrix(const FeatureMatrix& x, std::span<const float> margins) const {
    TW_TRY(xgboost::Matrix m, xgboost::Matrix::make(x.data(), x.rows(), x.columns(), o_.threads));
    if (!margins.empty()) {
      std::vector<float> rows(x.rows(), 0.0F);
      for (size_t c = 0; c < x.candidates(); ++c) rows[x.begins()[c]] = margins[c];
      TW_CHECK(m.set("base_margin", rows));
    }
    return m;
  }

  std::vector<float> weights(std::span<const double> labels) const {
    std::vector<float> out;
    for (const double l : labels) out.push_back(static_cast<float>(std::max(l, o_.least_weight)));
    return out;
  }

  xgboost::Booster::Params xgboost_params(bool own_loss, uint64_t seed) const {
    const auto number = [&](const char* name) { return dump_json(params().at(name)); };
    xgboost::Booster::Params out = {{"objective", o_.loss == Loss::rank && !own_loss ? "rank:pairwise" : "reg:squarederror"},
                                    {"max_depth", number("max_depth")},
                                    {"eta", number("eta")},
                                    {"gamma", number("gamma")},
                                    {"min_child_weight", number("min_child_weight")},
                                    {"lambda", number("lambda")},
                                    {"alpha", number("alpha")},
                                    {"tree_method", params().at("tree_method").get<std::string>()},
                                    {"max_bin", number("bins")},
                                    {"nthread", std::to_string(o_.threads)},
                                    {"seed", std::to_string(seed & 0x7fffffff)},
                                    {"verbosity", "0"}};
    if (own_loss) out.emplace_back("base_score", "0");  // it would count once for each row
    return out;
  }

  Expected<std::string> state() const override {
    TW_TRY(const xgboost::Booster kept, booster_->first(rounds_, xgboost_params(own_loss_, 0)));
    TW_TRY(const std::string bytes, kept.save());
    return dump_json(Json{{"samples", samples_}, {"from_nothing", from_nothing_}, {"columns", columns_}, {"rounds", rounds_}, {"own_loss", own_loss_}}) + "\n" + bytes;
  }

  Expected<void> restore(std::string_view state) override {
    const size_t end = std::min(state.find('\n'), state.size());
    TW_TRY(const Json head, parse_json(state.substr(0, end)));
    from_nothing_ = head.at("from_nothing").get<size_t>();
    columns_ = head.at("columns").get<size_t>();
    rounds_ = head.at("rounds").get<int>();
    own_loss_ = head.at("own_loss").get<bool>();
    TW_TRY(xgboost::Booster loaded, xgboost::Booster::load(state.substr(std::min(end + 1, state.size())), xgboost_params(own_loss_, 0)));
    booster_ = std::move(loaded);
    samples_ = head.at("samples").get<size_t>();
    return {};
  }

  BoostingOptions o_;
  std::optional<xgboost::Booster> booster_;
  size_t samples_ = 0;       ///< that it learned from; 0: the rest means nothing
  size_t from_nothing_ = 0;  ///< samples when it last began from nothing
  size_t columns_ = 0;       ///< that it has seen: predictions ignore others, and missing ones are zero
  int rounds_ = 0;           ///< that predictions use
  bool own_loss_ = false;    ///< fitted by gradients of our own
  double recall_ = 0;        ///< of the training data, by those rounds
};

}  // namespace

ModelDef boosted_trees_model() {
  constexpr auto kInt = Param::Kind::integer;
  constexpr auto kReal = Param::Kind::real;
  return {
      "boosted-trees",
      {choice_param("loss", "rank", "what the trees minimise", {"rank", "reg"}), number_param("rounds", kInt, 8000, "trees at most", 1, 100'000),
       number_param("patience", kInt, 20, "trees without a better recall of the training data before fitting ends", 1, 100'000),
       number_param("recall_top", kInt, 64, "best candidates of each task that this recall looks for", 1, 100'000),
       number_param("max_depth", kInt, 3, "of a tree", 1, 20), number_param("eta", kReal, 0.3, "learning rate", 1e-6, 1),
       number_param("gamma", kReal, 1e-4, "least gain of a split", 0, 1e6), number_param("min_child_weight", kReal, 1.0, "least weight of a leaf", 0, 1e6),
       number_param("lambda", kReal, 1.0, "quadratic penalty of leaf values", 0, 1e6), number_param("alpha", kReal, 0.0, "linear penalty of leaf values", 0, 1e6),
       choice_param("tree_method", "exact", "splits at every value (exact) or at the borders of bins (hist), which is many times faster with thousands of rows",
                   {"exact", "hist"}),
       number_param("bins", kInt, 64, "of each feature, with tree_method hist", 2, 1024),
       number_param("growth", kInt, 0, "trees that are added when there is more data, until it has doubled; 0: each fit begins from nothing", 0, 100'000),
       number_param("pairs", kInt, 8, "others that each candidate is compared with in every round, for the loss rank over candidates of several rows", 1, 1000),
       number_param("least_weight", kReal, 1.0, "with the loss reg a candidate weighs as much as it is fast, relative to its task's fastest, but this at least", 0, 1),
       number_param("threads", kInt, 1, "that fit, on a machine that does nothing else; with tree_method hist their number may decide between splits that are worth the same", 1, 256)},
      [](const ModelDef& def, const FeatureDef& feature, const Json& params) -> std::unique_ptr<CostModel> {
        return std::make_unique<BoostedTrees>(def, feature, params);
      },
      "Gradient boosted regression trees. A candidate of several rows is worth the sum of what the trees say of each. Fitting ends when the training data's best "
      "are found no better any more, and predictions use the trees up to there.",
      "Chen and Guestrin, \"XGBoost: a scalable tree boosting system\", KDD 2016; losses, defaults and the stopping rule of AutoTVM 0.9's XGBTuner; sums over "
      "rows and weights of Ansor's cost model (Zheng et al., OSDI 2020)"};
}

}  // namespace tw::cost
