// SPDX-License-Identifier: Apache-2.0
// Cost models: what fitting, growing and asking cost, and how well models know spaces that were measured exhaustively.
//   cost_bench --fit 1                          2,000 candidates of 6 rows of 164 numbers, as loops of a network's tasks give them
//   cost_bench --networks 1                     the neural networks on 2,048 candidates of 5 statements, and with tiled products
//   cost_bench --spaces F[,F...] [--train 100]  learns from so many random points of recorded spaces, judged by the others
#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <tuple>

#include "engine/base/file.h"
#include "engine/cost/cost_model.h"
#include "engine/cost/metrics.h"
#include "engine/learner/networks.h"
#include "tests/bench/bench.h"
#include "tests/engine/tune/recorded_space.h"

using namespace tw;

namespace {

std::unique_ptr<cost::CostModel> model(const char* name, const Json& given) {
  const cost::ModelDef* def = cost::find_model(name);
  return def->make(*def, *cost::find_feature("knob"), bench::need(resolve_params(def->params, given)));
}

/// Candidates of some stores each. Half of a store's numbers are logarithms of products of small factors, as extents, counts and bytes are; a third say of
/// which kind something is; the rest is zero. What a store costs depends on some of them together.
cost::Dataset candidates_of_stores(int candidates, size_t rows, size_t columns, int tasks, uint64_t seed) {
  Rng rng(seed);
  cost::Dataset data;
  for (int i = 0; i < candidates; ++i) {
    const int task = i % tasks;
    cost::FeatureRows r{{}, rows};
    double seconds = 0;
    for (size_t row = 0; row < rows; ++row) {
      std::vector<float> v(columns, 0.0F);
      for (size_t c = 0; c < columns; ++c) {
        if (c % 6 < 3) v[c] = static_cast<float>(std::log2(1 + std::exp2(rng.range(0, 12)) * static_cast<double>(rng.range(1, 7)) * (1 + task % 3)));
        if (c % 6 == 3 || c % 6 == 4) v[c] = static_cast<float>(rng.uniform(4) == 0);
      }
      seconds += (std::exp2(v[0] / 4) + std::abs(v[6] - v[7]) * (1 + v[3]) + (v[12] > 8 ? v[13] : 2) + 4 * v[4] * v[9]) * (1 + 0.02 * rng.normal());
      r.values.insert(r.values.end(), v.begin(), v.end());
    }
    data.add(std::to_string(task), std::move(r), 1 / seconds);
  }
  return data;
}

void fit() {
  constexpr int kCandidates = 2000, kRounds = 100;
  constexpr size_t kRows = 6, kColumns = 164;
  const cost::Dataset train = candidates_of_stores(kCandidates, kRows, kColumns, 4, 1), test = candidates_of_stores(kCandidates, kRows, kColumns, 4, 2);
  cost::Dataset more = train;
  const cost::Dataset fresh = candidates_of_stores(64, kRows, kColumns, 4, 3);
  for (const cost::Dataset::Task& t : fresh.tasks())
    for (const cost::Dataset::Sample& s : t.samples) more.add(t.key, s.rows, s.speed);
  const cost::FeatureMatrix x = test.matrix();
  const std::vector<double> labels = test.labels();
  std::printf("| %d candidates x %zu rows x %zu columns, %d trees of depth 6 | fit, s | 64 more, 20 trees, s | candidates asked a second | pairs of others in order |\n|---|---|---|---|---|\n",
              kCandidates, kRows, kColumns, kRounds);
  struct Way {
    const char *method, *loss;
    int threads, rounds, patience;
  };
  for (const Way& way : {Way{"hist", "reg", 1, kRounds, kRounds}, {"hist", "reg", 2, kRounds, kRounds}, {"hist", "rank", 1, kRounds, kRounds},
                         {"hist", "rank", 2, kRounds, kRounds}, {"exact", "reg", 1, kRounds, kRounds}, {"hist, until the best are found", "reg", 1, 8000, 20},
                         {"hist, until the best are found", "rank", 1, 8000, 20}}) {
    const auto m = model("boosted-trees", {{"tree_method", std::string(way.method).substr(0, std::string(way.method).find(','))},
                                           {"loss", way.loss},
                                           {"threads", way.threads},
                                           {"max_depth", 6},
                                           {"eta", 0.2},
                                           {"rounds", way.rounds},
                                           {"patience", way.patience},
                                           {"growth", 20}});
    const double fit_s = bench::seconds_of([&] { bench::need(m->fit(train, {1})); });
    std::vector<float> predicted;
    const double predict_s = bench::seconds_of([&] { predicted = bench::need(m->predict(x)); });
    const double grow_s = bench::seconds_of([&] { bench::need(m->fit(more, {2})); });
    std::printf("| %s, %s, %d thread%s | %.2f | %.2f | %.0f | %.3f |\n", way.method, way.loss, way.threads, way.threads > 1 ? "s" : "", fit_s, grow_s,
                kCandidates / predict_s, cost::pairwise_accuracy(labels, predicted));
    std::fflush(stdout);
  }
}

/// Statements of candidates of stores, where asked for with the steps of a tiled product.
cost::Dataset candidates_of_networks(int candidates, bool patterns, uint64_t seed) {
  constexpr size_t kStatements = 5;
  const cost::Dataset from = candidates_of_stores(candidates, kStatements + (patterns ? learner::kPatternRows : 0), learner::kRowColumns, 26, seed);
  cost::Dataset out;
  for (const cost::Dataset::Task& t : from.tasks())
    for (const cost::Dataset::Sample& s : t.samples) {
      cost::FeatureRows rows = s.rows;
      for (size_t r = 0; r < rows.count; ++r) rows.values[r * learner::kRowColumns] = r < kStatements ? 0 : 1;
      out.add(t.key, std::move(rows), s.speed);
    }
  return out;
}

void networks() {
  constexpr int kCandidates = 2048;
  std::printf("| network, rows | fit from nothing, 50 epochs, s | 64 more, 6 epochs, s | candidates asked a second | pairs of others in order |\n|---|---|---|---|---|\n");
  for (const auto& [name, patterns] : {std::tuple("tenset-mlp", false), {"pam", false}, {"pam", true}}) {
    const cost::Dataset train = candidates_of_networks(kCandidates, patterns, 1), more = candidates_of_networks(kCandidates + 64, patterns, 1),
                        test = candidates_of_networks(4 * kCandidates, patterns, 2);
    const cost::ModelDef* def = cost::find_model(name);
    const auto m = def->make(*def, *cost::find_feature("pam"), bench::need(resolve_params(def->params, Json::object())));
    const double fit_s = bench::seconds_of([&] { bench::need(m->fit(train, {1})); });
    const cost::FeatureMatrix x = test.matrix();
    bench::need(m->predict(x));  // the process gets the weights
    std::vector<float> predicted;
    const double predict_s = bench::seconds_of([&] { predicted = bench::need(m->predict(x)); });
    const double update_s = bench::seconds_of([&] { bench::need(m->fit(more, {2})); });
    std::printf("| %s%s | %.2f | %.2f | %.0f | %.3f |\n", name, patterns ? ", with products" : "", fit_s, update_s, static_cast<double>(predicted.size()) / predict_s,
                cost::pairwise_accuracy(test.labels(), predicted));
    std::fflush(stdout);
  }
}

void spaces(const std::string& files, int train) {
  std::istringstream list(files);
  std::printf("| space | model | learned from | pairs in order | RMSE, R2 of speeds | best of 1, 8 favourites |\n|---|---|---|---|---|---|\n");
  for (std::string file; std::getline(list, file, ',');) {
    const std::string text = bench::need(read_file(file));
    const recorded::RecordedSpace r = bench::need(recorded::recorded_space_from_json(bench::need(parse_json(text, file))));
    const te::DagPtr no_dag;
    const Target no_target;
    cost::Dataset data;
    for (size_t i = 0; i < r.seconds.size(); ++i) {
      if (r.rejected[i]) continue;
      const cost::FeatureInput input{no_dag, no_target, nullptr, &r.space, static_cast<int64_t>(i)};
      data.add(r.name, bench::need(cost::find_feature("knob")->extract(input)), std::isfinite(r.seconds[i]) ? 1 / r.seconds[i] : 0);
    }
    Rng rng(1);
    const cost::Dataset::Split split = data.split_samples(1 - static_cast<double>(train) / static_cast<double>(data.size()), rng);
    const std::vector<double> labels = split.test.labels();
    std::vector<double> seconds;
    for (const cost::Dataset::Sample& s : split.test.tasks()[0].samples) seconds.push_back(s.speed > 0 ? 1 / s.speed : INFINITY);
    for (const auto& [label, name, params] : std::vector<std::tuple<const char*, const char*, Json>>{
             {"boosted-trees, rank", "boosted-trees", Json::object()}, {"boosted-trees, reg", "boosted-trees", {{"loss", "reg"}}}, {"random", "random", Json::object()}}) {
      const auto m = model(name, params);
      bench::need(m->fit(split.train, {1}));
      const std::vector<float> predicted = bench::need(m->predict(split.test.matrix()));
      const std::vector<cost::JudgedTask> judged{{1, seconds, predicted}};
      // Scores of the other models only order.
      const std::string errors =
          params.contains("loss") ? fmt::format("{:.3f}, {:.2f}", cost::rmse(labels, predicted), cost::r_squared(labels, predicted)) : std::string("-");
      std::printf("| %s | %s | %zu | %.3f | %s | %.3f, %.3f |\n", r.name.c_str(), label, split.train.size(), cost::pairwise_accuracy(labels, predicted),
                  errors.c_str(), cost::top_k_score(judged, 1), cost::top_k_score(judged, 8));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  if (options.integer("fit", 0) != 0) fit();
  if (options.integer("networks", 0) != 0) networks();
  if (const std::string files = options.text("spaces", ""); !files.empty()) spaces(files, static_cast<int>(options.integer("train", 100)));
}
