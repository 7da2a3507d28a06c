// SPDX-License-Identifier: Apache-2.0
// Tuners against recorded measurements: how many trials each needs until its best reaches 95 % of the optimum of a space that was measured exhaustively.
//   tuners_bench --record NAME --file F          measures every point of the named task on this machine, on one thread
//   tuners_bench --spaces F[,F...] [--seeds N]   searches recorded spaces, such as those in tests/engine/tune/spaces; needs no template
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
#include "tests/bench/recordable.h"
#include "tests/engine/tune/recorded_space.h"

using namespace tw;

namespace {

constexpr double kReached = 0.95;

const bench::Recordable& named(const std::string& name) {
  std::string names;
  for (const bench::Recordable& r : bench::recordables()) {
    if (name == r.name) return r;
    names += std::string(" ") + r.name;
  }
  std::fprintf(stderr, "Expected one of%s, found '%s'\n", names.c_str(), name.c_str());
  std::exit(2);
}

void record(const std::string& name, const std::string& file) {
  Target target = host_target();
  target.cores = 1;  // one thread: two are placed by the host as it likes
  const bench::Recordable& chosen = named(name);
  const space::Template& t = chosen.plain;
  const records::Task task = records::make_task(name, chosen.dag(), target);
  recorded::RecordedSpace r{name, target.str(), t.space(*task.dag, task.target), {}, {}};
  const int64_t size = r.space.size();
  r.seconds.assign(static_cast<size_t>(size), INFINITY);
  r.rejected.assign(static_cast<size_t>(size), false);
  const auto builder = bench::need(measure::local_builder({}));
  const auto runner = bench::need(measure::local_runner({}));
  constexpr int64_t kBatch = 32;
  std::map<std::string, int> failures;
  for (int64_t begin = 0; begin < size; begin += kBatch) {
    std::vector<records::Candidate> candidates;
    for (int64_t i = begin; i < std::min(begin + kBatch, size); ++i) {
      r.rejected[static_cast<size_t>(i)] = !tune::is_valid_point(r.space, i);
      if (r.rejected[static_cast<size_t>(i)]) continue;
      auto c = tune::point_candidate(task, t, bench::need(r.space.get(i)));
      if (c.refused.empty()) candidates.push_back(std::move(c.candidate));
    }
    measure::RunOptions options;
    options.incumbent_s = std::isfinite(r.best_s()) ? r.best_s() : 0;  // what is clearly slower needs no precise time
    const auto results = runner->run(task, builder->build(task, candidates, {}), options, {});
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].ok())
        r.seconds[static_cast<size_t>(candidates[i].index)] = results[i].seconds();
      else
        ++failures[records::status_name(results[i].status)];
    }
    std::fprintf(stderr, "\r%lld of %lld", static_cast<long long>(std::min(begin + kBatch, size)), static_cast<long long>(size));
  }
  std::fprintf(stderr, "\n");
  for (const auto& [status, count] : failures) std::fprintf(stderr, "%s: %d\n", status.c_str(), count);
  bench::need(write_file(file, kAnyOutput, recorded::to_json(r).dump() + "\n"));
}

recorded::RecordedSpace read_space(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return bench::need(recorded::recorded_space_from_json(bench::need(parse_json(text.str(), file))));
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
                                         {"xgb, first model after 64", "xgb", {{"first_plan", 64}}}};
  std::istringstream list(files);
  std::printf("| space | points | good points | tuner | median trials to 95 %% of the optimum | random's exact median / this |\n|---|---|---|---|---|---|\n");
  for (std::string file; std::getline(list, file, ',');) {
    const recorded::RecordedSpace r = read_space(file);
    const int random = recorded::random_median_trials(r, kReached);
    for (const Entrant& e : entrants) {
      const double m = recorded::median_trials(r, *tune::find_strategy(e.tuner), e.params, kReached, seeds);
      std::printf("| %s | %lld | %lld | %s | %.1f | %d / %.1f = %.2f |\n", r.name.c_str(), static_cast<long long>(r.valid_points()),
                  static_cast<long long>(r.good_points(kReached)), e.label, m, random, m, random / m);
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
    const auto strategy = def.make_points({space, bench::need(resolve_params(def.params, Json::object())), Rng(1)});
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
