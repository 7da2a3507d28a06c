// SPDX-License-Identifier: Apache-2.0
// Tuners against recorded measurements: how many trials each needs until its best reaches 95 % of the optimum of a space that was measured exhaustively.
//   tuners_bench --record NAME --file F          measures every point of the named task on this machine
//   tuners_bench --spaces F[,F...] [--seeds N]   searches the recorded spaces
//   tuners_bench --plan 1                        time of one plan of the tuner `xgb` in a space of 10^8 points
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/measure/measure.h"
#include "engine/tune/candidate.h"
#include "engine/tune/strategy.h"
#include "engine/tune/valid_points.h"
#include "tests/bench/bench.h"

using namespace tw;

namespace {

constexpr double kReached = 0.95;

te::DagPtr dense(int64_t m, int64_t n, int64_t k) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {m, k}, kFloat32), w = b.placeholder("w", {n, k}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return std::move(b).finish({y});
}

te::DagPtr conv(int64_t channels, int64_t size) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, channels, size + 2, size + 2}, kFloat32);
  const te::Tensor w = b.placeholder("w", {channels, channels, 3, 3}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "conv2d", {1, channels, size, size}, {channels, 3, 3}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
  return std::move(b).finish({y});
}

records::Task named_task(const std::string& name, const Target& target) {
  if (name == "dense_128x768x768") return records::make_task(name, dense(128, 768, 768), target);
  if (name == "conv_64x56x56") return records::make_task(name, conv(64, 56), target);
  if (name == "conv_256x14x14") return records::make_task(name, conv(256, 14), target);
  std::fprintf(stderr, "Expected dense_128x768x768, conv_64x56x56 or conv_256x14x14, found '%s'\n", name.c_str());
  std::exit(2);
}

const space::Template& template_of(const records::Task& task) {
  const space::Template* t = space::find_template(*task.dag, task.target);
  if (t == nullptr) bench::need(Expected<int>(Error(ErrorCode::not_applicable, "The task has no template on this target")));
  return *t;
}

void record(const std::string& name, const std::string& file) {
  const records::Task task = named_task(name, host_target());
  const space::Template& t = template_of(task);
  const space::ConfigSpace space = t.space(*task.dag, task.target);
  const auto builder = bench::need(measure::local_builder({}));
  const auto runner = bench::need(measure::local_runner({}));
  Json seconds = Json::array();
  for (int64_t i = 0; i < space.size(); ++i) seconds.push_back(nullptr);
  constexpr int64_t kBatch = 32;
  for (int64_t begin = 0; begin < space.size(); begin += kBatch) {
    std::vector<records::Candidate> candidates;
    for (int64_t i = begin; i < std::min(begin + kBatch, space.size()); ++i) {
      if (!tune::is_valid_point(space, i)) continue;
      auto c = tune::point_candidate(task, t, bench::need(space.get(i)));
      if (c.refused.empty()) candidates.push_back(std::move(c.candidate));
    }
    const auto results = runner->run(task, builder->build(task, candidates, {}), {}, {});
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].ok()) seconds[static_cast<size_t>(candidates[i].index)] = results[i].seconds();
    }
    std::fprintf(stderr, "\r%lld of %lld", static_cast<long long>(std::min(begin + kBatch, space.size())), static_cast<long long>(space.size()));
  }
  std::fprintf(stderr, "\n");
  const Json document = {{"task", name}, {"target", to_json(task.target)}, {"space", t.name}, {"seconds", seconds}};
  bench::need(write_file(file, dump_json(document) + "\n"));
}

struct RecordedSpace {
  records::Task task;
  space::ConfigSpace space;
  std::vector<double> seconds;  ///< infinity for failures
  double best = INFINITY;
};

RecordedSpace read_space(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  const Json document = bench::need(parse_json(text.str(), file));
  RecordedSpace r;
  r.task = named_task(document.at("task").get<std::string>(), bench::need(target_from_json(document.at("target"))));
  r.space = template_of(r.task).space(*r.task.dag, r.task.target);
  for (const Json& s : document.at("seconds")) r.seconds.push_back(s.is_number() ? s.get<double>() : INFINITY);
  if (static_cast<int64_t>(r.seconds.size()) != r.space.size() || document.at("space") != template_of(r.task).name)
    bench::need(Expected<int>(Error(ErrorCode::version, "The recorded space is that of another version of the template; record it again", file)));
  for (const double s : r.seconds) r.best = std::min(r.best, s);
  return r;
}

/// Trials until the best is within 95 % of the optimum.
int trials_to_reach(const RecordedSpace& r, const tune::StrategyDef& def, const Json& given, uint64_t seed) {
  const auto strategy = def.make({r.space, bench::need(resolve_params(def.params, given)), Rng(seed), &r.task, &template_of(r.task), {}});
  int trials = 0;
  for (;;) {
    const std::vector<int64_t> points = strategy->propose(8);
    if (points.empty()) return trials;
    std::vector<tune::Observation> answers;
    for (const int64_t p : points) {
      ++trials;
      const double s = r.seconds[static_cast<size_t>(p)];
      if (s <= r.best / kReached) return trials;
      tune::Observation o{p, {}};
      o.result.status = std::isfinite(s) ? records::Status::ok : records::Status::build_fail;
      if (std::isfinite(s)) o.result.samples_s = {s};
      answers.push_back(o);
    }
    strategy->observe(answers);
  }
}

double median(std::vector<int> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 == 1 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2.0;
}

void search(const std::string& files, int seeds) {
  struct Entrant {
    const char* label;
    const char* tuner;
    Json params;
  };
  const std::vector<Entrant> entrants = {{"random", "random", Json::object()},
                                         {"genetic", "genetic", Json::object()},
                                         {"xgb", "xgb", Json::object()},
                                         {"xgb, plans of 16", "xgb", {{"plan_size", 16}}},
                                         {"xgb, plans of 16, itervar", "xgb", {{"plan_size", 16}, {"feature", "itervar"}}}};
  std::istringstream list(files);
  std::printf("| space | points | good points | tuner | median trials to 95 %% of the optimum | random / this |\n|---|---|---|---|---|---|\n");
  for (std::string file; std::getline(list, file, ',');) {
    const RecordedSpace r = read_space(file);
    const auto good = std::count_if(r.seconds.begin(), r.seconds.end(), [&](double s) { return s <= r.best / kReached; });
    double random = 0;
    for (const Entrant& e : entrants) {
      std::vector<int> trials;
      for (int seed = 1; seed <= seeds; ++seed) trials.push_back(trials_to_reach(r, *tune::find_strategy(e.tuner), e.params, static_cast<uint64_t>(seed)));
      const double m = median(trials);
      if (random == 0) random = m;
      std::printf("| %s | %lld | %lld | %s | %.1f | %.2f |\n", r.task.name.c_str(), static_cast<long long>(r.space.size()), static_cast<long long>(good),
                  e.label, m, random / m);
      std::fflush(stdout);
    }
  }
}

void plan() {
  space::ConfigSpace space;
  std::vector<Json> values;
  for (int i = 0; i < 100; ++i) values.push_back(i);
  for (int k = 0; k < 4; ++k) space.define_knob("k" + std::to_string(k), values);
  const tune::StrategyDef& def = *tune::find_strategy("xgb");
  for (const int samples : {64, 256, 1024}) {
    const auto strategy = def.make({space, bench::need(resolve_params(def.params, Json::object())), Rng(1)});
    std::vector<tune::Observation> answers;
    for (const int64_t p : strategy->propose(samples)) {
      double distance = 0;
      for (const int position : space.knob_positions(p)) distance += std::abs(position - 30);
      tune::Observation o{p, {}};
      o.result.status = records::Status::ok;
      o.result.samples_s = {1e-3 * std::exp(0.01 * distance)};
      answers.push_back(o);
    }
    strategy->observe(answers);
    const double s = bench::seconds_of([&] { strategy->propose(64); });
    std::printf("plan of 64 in a space of %lld points after %d trials: %.3f s\n", static_cast<long long>(space.size()), samples, s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  if (const std::string name = options.text("record", ""); !name.empty()) record(name, options.text("file", name + ".json"));
  if (const std::string files = options.text("spaces", ""); !files.empty()) search(files, static_cast<int>(options.integer("seeds", 20)));
  if (options.integer("plan", 0) != 0) plan();
}
