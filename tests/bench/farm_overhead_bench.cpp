// SPDX-License-Identifier: Apache-2.0
// What a farm costs: the same candidates of one task through this machine's own runner and through a farm with one agent on this machine, by turns; with a
// delay and losses, through a slow line. Usage: farm_overhead_bench [--candidates N] [--rounds N] [--delay MILLISECONDS] [--loss PERCENT]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/base/paired_ratio.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/farm/farm_runner.h"
#include "engine/process/child_process.h"
#include "engine/process/find_program.h"
#include "engine/space/template.h"
#include "tests/engine/farm/relay.h"
#include "tests/engine/farm/sim_farm.h"

using namespace tw;
using namespace tw::test;

namespace {

records::Task dense_task(int64_t n) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {n, n}, kFloat32), w = b.placeholder("w", {n, n}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "y", {n, n}, {n}, te::Reducer::sum, [&](const te::Indices& i, const te::Indices& r) { return x(i[0], r[0]) * w(i[1], r[0]); }, "dense");
  return records::make_task("dense", std::move(b).finish({y}), host_target());
}

std::vector<measure::BuildOutcome> candidates_of(const records::Task& task, size_t count) {
  std::vector<records::Candidate> candidates;
  Rng rng(1);
  const auto all = space::alternatives(*task.dag, task.target).front()->space(*task.dag, task.target);
  for (int tries = 0; tries < 10000 && candidates.size() < 2 * count; ++tries) {
    const auto point = all.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(all.size()))));
    const auto schedule =
        point ? space::alternatives(*task.dag, task.target).front()->apply(task.dag, task.target, *point) : Expected<schedule::Schedule>(point.error());
    if (schedule) candidates.push_back({.steps = schedule->steps()});
  }
  const auto builder = std::move(measure::local_builder({}).value());
  std::vector<measure::BuildOutcome> builds = builder->build(task, candidates, {});
  std::erase_if(builds, [](const measure::BuildOutcome& b) { return b.status != records::Status::ok; });
  if (builds.size() > count) builds.resize(count);
  return builds;
}

/// Seconds for each candidate.
double time_of(measure::Runner& runner, const records::Task& task, const std::vector<measure::BuildOutcome>& builds) {
  const double from = Tenures::now_s();
  const auto results = runner.run(task, builds, {}, {});
  const double seconds = (Tenures::now_s() - from) / static_cast<double>(builds.size());
  for (const records::MeasureResult& r : results)
    if (!r.ok()) std::fprintf(stderr, "%s: %s\n", records::status_name(r.status), r.message.c_str());
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  size_t count = 64;
  int rounds = 7;
  Line line;
  for (int i = 1; i + 1 < argc; i += 2) {
    const double value = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--candidates") == 0) count = static_cast<size_t>(value);
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = static_cast<int>(value);
    if (std::strcmp(argv[i], "--delay") == 0) line.delay_s = value * 1e-3;
    if (std::strcmp(argv[i], "--loss") == 0) line.loss = value * 1e-2;
  }
  SimFarm farm("host");
  farm::Access access = farm.file.agent("host").value();
  std::unique_ptr<Relay> relay;
  if (line.delay_s > 0 || line.loss > 0) {
    relay = std::make_unique<Relay>(access.port, line);
    access.port = relay->port();
  }
  const std::string program = process::find_program("tw-agent", "which measures for a farm", "").value();
  const auto agent = std::move(process::ChildProcess::start(program, {"join", farm::line_of(access), "--name", "a", "--folder", farm.folder() + "/a"}).value());
  auto options = farm.session("host");
  options.lease_s = farm::kLeaseSeconds;
  const auto there = std::move(farm::FarmRunner::open(options, {}).value());
  const auto here = std::move(measure::local_runner({}).value());
  const records::Task task = dense_task(128);
  const auto builds = candidates_of(task, count);
  time_of(*here, task, builds), time_of(*there, task, builds);  // workers, references and inputs are made
  std::vector<double> local, farmed, more;
  for (int r = 0; r < rounds; ++r) {
    const bool first = r % 2 == 0;
    if (first) local.push_back(time_of(*here, task, builds));
    farmed.push_back(time_of(*there, task, builds));
    if (!first) local.push_back(time_of(*here, task, builds));
    more.push_back(farmed.back() - local.back());
  }
  const auto best = [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); };
  std::printf("%zu candidates, %d rounds, a line with %g ms each way and %g %% loss\n", builds.size(), rounds, line.delay_s * 1e3, line.loss * 100);
  std::printf("local  %.2f ms a trial at best, median %.2f\n", 1e3 * best(local), 1e3 * median_of(local));
  std::printf("farm   %.2f ms a trial at best, median %.2f\n", 1e3 * best(farmed), 1e3 * median_of(farmed));
  std::printf("more   %.2f ms a trial between the best, median of pairs %.2f; throughput of the farm %.0f %% of the local one by medians\n",
              1e3 * (best(farmed) - best(local)), 1e3 * median_of(more), 100 * median_of(local) / median_of(farmed));
  return 0;
}
