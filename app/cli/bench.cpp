// SPDX-License-Identifier: Apache-2.0
// `tw bench`: tuned kernels against other libraries and against the machine's limit, as ratios from one run.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/peers.h"
#include "app/cli/progress.h"
#include "app/cli/running.h"
#include "app/cli/table.h"
#include "engine/api/compile.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/graph/op.h"
#include "engine/measure/measure.h"
#include "engine/measure/peak.h"
#include "engine/records/memory_store.h"
#include "engine/tune/session.h"

namespace tw::cli {
namespace {

struct Options {
  std::string kind = "cpu", suite = "dense", tuner = "random";
  std::vector<std::string> against;
  int64_t trials = 200;
  uint64_t seed = 1;
  bool quick = false, json = false;
};

/// One operator with fixed shapes. `weight` is constant, `data` is the input.
struct Case {
  std::string name, op;
  std::vector<int64_t> data, weight;
  graph::Attrs attrs;
};

Case dense_case(int64_t m, int64_t n, int64_t k) { return {fmt::format("dense {}x{}x{}", m, n, k), "dense", {m, k}, {n, k}, {}}; }

Case conv_case(int64_t channels, int64_t size, int64_t filters, int64_t kernel, int64_t stride) {
  Case c{fmt::format("conv2d {}x{}x{} to {}, {}x{} by {}", channels, size, size, filters, kernel, kernel, stride),
         "conv2d",
         {1, channels, size, size},
         {filters, channels, kernel, kernel},
         {}};
  c.attrs.values["strides"] = std::vector<int64_t>{stride, stride};
  c.attrs.values["pads"] = std::vector<int64_t>(4, kernel / 2);
  return c;
}

std::vector<Case> cases_of(const Options& o) {
  if (o.suite == "dense") {
    if (o.quick) return {dense_case(512, 512, 512)};
    return {dense_case(256, 256, 256), dense_case(512, 512, 512), dense_case(1024, 1024, 1024), dense_case(128, 768, 3072), dense_case(1, 1000, 512)};
  }
  // The convolutions of resnet18.
  if (o.quick) return {conv_case(64, 56, 64, 3, 1)};
  return {conv_case(3, 224, 64, 7, 2),   conv_case(64, 56, 64, 3, 1),   conv_case(64, 56, 128, 3, 2),
          conv_case(128, 28, 128, 3, 1), conv_case(256, 14, 256, 3, 1), conv_case(512, 7, 512, 3, 1)};
}

HostArray random_array(const std::vector<int64_t>& shape, Rng& rng) {
  HostArray a = HostArray::make(kFloat32, shape);
  auto* p = reinterpret_cast<float*>(a.data.data());
  for (int64_t i = 0, n = a.num_elements(); i < n; ++i) p[i] = static_cast<float>(2 * rng.uniform_real() - 1);
  return a;
}

Expected<api::Network> one_operator(const Case& c, const HostArray& weight, const Target& target) {
  graph::GraphBuilder b(c.name);
  const int x = b.input("x", {kFloat32, c.data});
  TW_TRY(const auto y, b.node(c.op, {x, b.constant("w", weight)}, c.attrs, "y"));
  b.output(y[0]);
  api::Network network;
  network.imported = std::move(b).finish();
  TW_TRY(network.optimized, graph::run_passes(network.imported, target));
  TW_TRY(network.partition, graph::partition(network.optimized));
  return network;
}

Expected<void> tune_case(const api::Network& network, const Target& target, const Options& o, records::MemoryStore& store) {
  TW_TRY(const auto builder, measure::local_builder({}));
  TW_TRY(const auto runner, measure::local_runner({}));
  tune::SessionOptions session;
  session.tuner = o.tuner;
  TW_TRY(session.tuner_params, resolve_params(tune::find_strategy(o.tuner)->params, Json::object()));
  session.seed = o.seed;
  session.trials_per_task = o.trials;
  std::vector<tune::SessionTask> tasks;
  for (const auto& t : api::network_tasks(network, target)) tasks.push_back({t.task, t.weight, {}});
  Progress progress("Tuning " + network.imported.name, o.trials * static_cast<int64_t>(tasks.size()));
  int64_t done = 0;
  const auto events = [&](const tune::Event& e) {
    if (const auto* trial = std::get_if<tune::TrialDone>(&e)) progress.update(++done, "best " + time_text(trial->best_s));
  };
  TW_TRY(const auto report, tune::run_session(tasks, session, *builder, *runner, store, events, {stop_token(), {}}));
  if (report.cancelled || stop_token().stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
  return {};
}

/// Something to time: ours, the default schedule, a peer.
struct Contender {
  std::string name;
  std::function<void()> run;
  double best_s = std::numeric_limits<double>::infinity();
};

/// Least time of each over rounds taken by turns. Threads of one that still spin would disturb the next, so there is a pause between them.
void time_by_turns(std::vector<Contender>& all) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 7;
  constexpr auto kPause = std::chrono::milliseconds(60), kSample = std::chrono::milliseconds(20);
  for (int round = 0; round < kRounds && !stop_token().stop_requested(); ++round) {
    for (Contender& c : all) {
      std::this_thread::sleep_for(kPause);
      c.run();
      const auto end = Clock::now() + kSample;
      do {
        const auto start = Clock::now();
        c.run();
        c.best_s = std::min(c.best_s, std::chrono::duration<double>(Clock::now() - start).count());
      } while (Clock::now() < end);
    }
  }
}

Expected<std::unique_ptr<runtime::GraphExecutor>> executor_for(const api::Network& network, const Target& target, records::RecordSource* source,
                                                               const HostArray& x) {
  TW_TRY(runtime::Executable e, api::compile(network, target, source));
  TW_TRY(auto executor, make_executor(std::make_shared<const runtime::Executable>(std::move(e))));
  TW_CHECK(executor->set_inputs({{"x", x}}));
  return executor;
}

struct Result {
  std::string name;
  double flops = 0, ours_s = 0, default_s = 0;
  std::map<std::string, double> peers_s;
  /// Ours over the fastest peer; over the default schedule where there is no peer.
  double ratio() const {
    double best = peers_s.empty() ? default_s : std::numeric_limits<double>::infinity();
    for (const auto& [name, seconds] : peers_s) best = std::min(best, seconds);
    return best / ours_s;
  }
};

Expected<Result> run_case(const Case& c, const Target& target, const Options& o, const GemmPeer& gemm) {
  Rng rng(o.seed);
  const HostArray weight = random_array(c.weight, rng), x = random_array(c.data, rng);
  TW_TRY(const api::Network network, one_operator(c, weight, target));
  records::MemoryStore store;
  TW_CHECK(tune_case(network, target, o, store));
  TW_TRY(const auto ours, executor_for(network, target, &store, x));
  TW_TRY(const auto plain, executor_for(network, target, nullptr, x));
  std::vector<Contender> all{{"ours", [&] { ours->run(); }}, {"default", [&] { plain->run(); }}};
  const int64_t m = c.data[0], k = c.data[1], n = c.weight[0];
  HostArray y = HostArray::make(kFloat32, {m, n});
  if (gemm && c.op == "dense") {
    const auto floats = [](const HostArray& a) { return reinterpret_cast<const float*>(a.data.data()); };
    all.push_back({"openblas", [&, floats] { gemm(m, n, k, floats(x), floats(weight), reinterpret_cast<float*>(y.data.data())); }});
  }
  time_by_turns(all);
  if (stop_token().stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
  const HostArray want = all.size() > 2 ? y : plain->outputs()[0];
  if (const auto d = api::compare(ours->outputs()[0], want); !(d.max_rel < 1e-3)) {
    return Error(ErrorCode::wrong_result, fmt::format("The tuned kernel of '{}' differs by {:.3g} relative", c.name, d.max_rel));
  }
  double flops = 0;
  for (const graph::Node& node : network.imported.nodes) flops += static_cast<double>(graph::node_flops(network.imported, node));
  Result r{c.name, flops, all[0].best_s, all[1].best_s, {}};
  if (all.size() > 2) r.peers_s["openblas"] = all[2].best_s;
  return r;
}

void print_results(const std::vector<Result>& results, double peak, const Target& target, double geomean, double worst) {
  Table table({"case", ">ours", ">rate", ">of peak", ">default", ">openblas", ">ratio"});
  for (const Result& r : results) {
    const auto blas = r.peers_s.find("openblas");
    table.row({r.name, time_text(r.ours_s), si_text(r.flops / r.ours_s, "FLOP/s"), peak > 0 ? fmt::format("{:.0f} %", 100 * r.flops / r.ours_s / peak) : "-",
               time_text(r.default_s), blas == r.peers_s.end() ? "-" : time_text(blas->second), ratio_text(r.ratio())});
  }
  fmt::print("{}\n{}, peak {}\nratio: ours over the fastest peer, over the default schedule where there is none; geometric mean {}, worst {}\n", table.text(),
             target.str(), si_text(peak, "FLOP/s"), ratio_text(geomean), ratio_text(worst));
}

int bench(const Options& given) {
  Options o = given;
  if (o.quick) o.trials = std::min<int64_t>(o.trials, 32);
  if (tune::find_strategy(o.tuner) == nullptr) return fail_usage(fmt::format("Expected a tuner that `tw tune --help` names, found '{}'", printable(o.tuner)));
  const Target target = host_target();
  GemmPeer gemm;
  if (!o.against.empty()) {
    auto peer = openblas_gemm(target.cores);
    if (!peer) return fail(peer.error());
    gemm = std::move(*peer);
  }
  const double peak = measure::measure_peak_flops(0.3) * target.cores;
  std::vector<Result> results;
  double log_sum = 0, worst = std::numeric_limits<double>::infinity();
  for (const Case& c : cases_of(o)) {
    auto r = run_case(c, target, o, gemm);
    if (!r) return fail(r.error());
    log_sum += std::log(r->ratio());
    worst = std::min(worst, r->ratio());
    results.push_back(std::move(*r));
  }
  const double geomean = std::exp(log_sum / static_cast<double>(results.size()));
  if (!o.json) {
    print_results(results, peak, target, geomean, worst);
    return kDone;
  }
  Json list = Json::array();
  for (const Result& r : results) {
    list.push_back({{"name", r.name},
                    {"flops", r.flops},
                    {"ours_s", r.ours_s},
                    {"default_s", r.default_s},
                    {"peers_s", r.peers_s},
                    {"flop_per_s", r.flops / r.ours_s},
                    {"share_of_peak", peak > 0 ? Json(r.flops / r.ours_s / peak) : Json(nullptr)},
                    {"ratio", r.ratio()}});
  }
  print_json(
      {{"suite", o.suite}, {"target", target.str()}, {"trials", o.trials}, {"peak_flop_per_s", peak}, {"cases", list}, {"geomean", geomean}, {"worst", worst}});
  return kDone;
}

}  // namespace

void add_bench(Subcommand app, Run& run) {
  auto o = std::make_shared<Options>();
  Subcommand sub = app.command(run, "bench", "Tunes kernels and compares them with other libraries and with the machine's peak", o, bench);
  sub.option("kind", o->kind, "What runs: cpu").one_of({"cpu"}).show_default();
  sub.option("--suite", o->suite, "dense: matrix products; conv: the convolutions of resnet18").one_of({"dense", "conv"}).show_default();
  sub.option("--against", o->against, "Libraries to compare with, found at run time: openblas").separated_by(',').one_of({"openblas"});
  sub.option("--trials", o->trials, "Trials of each case").range(int64_t{1}, int64_t{1} << 30).show_default();
  sub.option("--tuner", o->tuner, "Tuner").show_default();
  sub.option("--seed", o->seed, "Seed of the search and of the data").show_default();
  sub.flag("--quick", o->quick, "One case, at most 32 trials");
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
