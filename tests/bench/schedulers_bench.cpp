// SPDX-License-Identifier: Apache-2.0
// Task schedulers over one network: the area under the curve of its estimated latency, and what going from task to task costs.
//   schedulers_bench --model F.onnx [--target T] [--device D] [--tuner X] [--trials N] [--batch N] [--seeds N]
// For each seed every scheduler tunes the network. Printed are the mean area under the curve over the trials, the same for what of it lies above the least time that
// any of these sessions reached, which is all that a scheduler can change, and the wall time a trial.
#include <algorithm>
#include <cmath>

#include "engine/api/compile.h"
#include "engine/measure/device.h"
#include "engine/records/memory_store.h"
#include "engine/tune/scheduler.h"
#include "engine/tune/session.h"
#include "tests/bench/bench.h"

using namespace tw;

namespace {

struct Outcome {
  std::vector<records::Round> rounds;
  double total_s = 0, last_s = 0;
  int64_t trials = 0;
};

/// Integral of the network's time over trials, from where every task has one, in s x trials; `floor_s` is taken off.
double area(const Outcome& o, double floor_s) {
  double sum = 0;
  int64_t before = -1;
  for (const records::Round& r : o.rounds) {
    if (!std::isfinite(r.network_s)) continue;
    if (before >= 0) sum += static_cast<double>(r.session_trials - before) * (r.network_s - floor_s);
    before = r.session_trials;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const Target target = bench::need(measure::target_named(options.text("target", "llvm")));
  const api::Network network = bench::need(api::import_network(options.text("model", "network.onnx"), target));
  std::vector<tune::SessionTask> tasks;
  for (const api::NetworkTask& t : api::network_tasks(network, target)) tasks.push_back({t.task, t.weight, {}});
  const std::string device_name = options.text("device", measure::device_for(target));
  const int64_t seeds = options.integer("seeds", 5);
  std::printf("%s, %s, %zu tasks, tuner %s, %lld trials in rounds of %lld, %lld seeds\n", network.imported.name.c_str(), device_name.c_str(), tasks.size(),
              options.text("tuner", "xgb").c_str(), static_cast<long long>(options.integer("trials", 640)),
              static_cast<long long>(options.integer("batch", 10)), static_cast<long long>(seeds));
  std::map<std::string, std::vector<Outcome>> outcomes;
  double least = INFINITY;
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    for (const tune::SchedulerDef& def : tune::schedulers()) {
      tune::SessionOptions session;
      session.tuner = options.text("tuner", "xgb");
      session.scheduler = def.name;
      session.seed = static_cast<uint64_t>(seed);
      session.trials = options.integer("trials", 640);
      session.batch = static_cast<int>(options.integer("batch", 10));
      session.finalists = 0;
      const measure::Device device = bench::need(measure::open_device(device_name, target, {}));
      records::MemoryStore store;
      tune::SessionReport report = bench::need(tune::run_session(tasks, session, *device.builder, *device.runner, store, {}, {}));
      Outcome o{std::move(report.rounds), report.total_s, report.network_s, static_cast<int64_t>(store.records().size())};
      least = std::min(least, o.last_s);
      outcomes[def.name].push_back(std::move(o));
    }
  }
  const std::vector<Outcome>& base = outcomes.at(tune::schedulers().front().name);
  std::printf("%-14s %14s %10s %16s %10s %12s %14s\n", "scheduler", "area [ms]", "ratio", "above least", "ratio", "final [ms]", "wall a trial");
  for (const tune::SchedulerDef& def : tune::schedulers()) {
    double whole = 0, above = 0, base_whole = 0, base_above = 0, last = 0, wall = 0;
    for (size_t i = 0; i < base.size(); ++i) {
      const Outcome& o = outcomes.at(def.name)[i];
      whole += area(o, 0), above += area(o, least), base_whole += area(base[i], 0), base_above += area(base[i], least);
      last += o.last_s / static_cast<double>(base.size());
      wall += o.total_s / static_cast<double>(o.trials) / static_cast<double>(base.size());
    }
    const double trials = static_cast<double>(base[0].trials) * static_cast<double>(base.size());
    std::printf("%-14s %14.4f %10.3f %16.4f %10.3f %12.4f %11.2f ms\n", def.name, whole / trials * 1e3, whole / base_whole, above / trials * 1e3, above / base_above,
                last * 1e3, wall * 1e3);
  }
  return 0;
}
