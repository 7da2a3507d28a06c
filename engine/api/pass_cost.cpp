// SPDX-License-Identifier: Apache-2.0
#include "engine/api/pass_cost.h"

#include <algorithm>

#include "engine/api/network_contest.h"
#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/process/temporary_folder.h"
#include "engine/records/recorded_trials.h"

namespace tw::api {

namespace {

/// Variant k leaves out the k-th pass.
class PassContest final : public CompiledContest {
 public:
  PassContest(const PassCostRequest& request, measure::NetworkRunner& runner, std::string folder)
      : CompiledContest({request.network, request.target, request.device, request.stop}, runner, std::move(folder)), request_(request) {}

  std::function<void()> before_launch;

  Expected<std::vector<VariantRuns>> launch(const std::vector<Variant>& variants, uint64_t seed) override {
    before_launch();
    return CompiledContest::launch(variants, seed);
  }

 protected:
  Expected<runtime::Executable> compile_variant(const Variant& variant) override {
    CompileOptions options;
    options.stop = request_.stop;
    options.machine_code = !measure::is_simulated(request_.device);
    options.without_in = request_.task;
    graph::PassHooks hooks;
    hooks.enabled = request_.network->enabled;
    hooks.stop = request_.stop;
    for (size_t p = 0; p < variant.size(); ++p)
      if (variant[p]) (find_pass(request_.passes[p])->of_graph ? hooks.disabled : options.without).push_back(request_.passes[p]);
    Network network = *request_.network;
    if (!hooks.disabled.empty()) {
      TW_TRY(network.optimized, graph::run_passes(network.imported, *request_.target, hooks));
      TW_TRY(network.partition, graph::partition(network.optimized));
    }
    return compile(std::move(network), *request_.target, request_.records, options);
  }

  std::vector<PartTimes> kernel_times(const runtime::Executable&, const measure::VariantTimes&) const override {
    return std::vector<PartTimes>(request_.passes.size());  // the whole is what counts
  }

 private:
  const PassCostRequest& request_;
};

NetworkSize size_of(const CompiledFile& file) {
  NetworkSize s;
  s.calls = static_cast<int>(file.facts.calls.size());
  s.kernels = static_cast<int>(file.facts.artifact.kernels.size());
  s.tuned = static_cast<int>(std::count_if(file.facts.calls.begin(), file.facts.calls.end(), [](const runtime::Call& c) { return !c.record.empty(); }));
  s.arena_bytes = file.facts.arena_bytes;
  s.code_bytes = static_cast<int64_t>(file.code_bytes);
  return s;
}

/// Why nothing can run; empty if it can.
std::string unmeasurable(const PassCostRequest& request) {
  if (!request.measure) return "not asked for";
  if (measure::is_simulated(request.device)) return "a simulated network takes the sum of its kernels by a formula, and is not run";
  if (request.device.starts_with(records::kRecordedDevice)) return "recorded trials are not run again";
  return {};
}

Expected<void> check(const PassCostRequest& request) {
  TW_TRY(const LeftOut names, left_out(request.passes));
  if (!request.task.empty() && !names.graph.empty())
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a kernel pass to be left out of one task, found the graph pass '{}'", names.graph[0]));
  return {};
}

Expected<std::vector<PassCost>> run(const PassCostRequest& request, measure::NetworkRunner* runner) {
  TW_CHECK(check(request));
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  const int total = static_cast<int>(request.passes.size());
  int done = 0;
  const auto say = [&](const std::string& what) {
    if (request.progress) request.progress(what, done, total);
  };
  struct NoRunner final : measure::NetworkRunner {
    Expected<measure::NetworkTimes> run(const measure::NetworkJob&, StopToken) override { TW_UNREACHABLE("nothing is run"); }
  } none;
  PassContest contest(request, runner ? *runner : none, folder.path());
  const Variant all(request.passes.size(), false);
  say("Compiling with all passes");
  TW_TRY(const CompiledFile* with, contest.compiled(all));
  TW_TRY(const std::string program, file_content_key(with->path));
  std::vector<PassCost> costs;
  for (; done < total; ++done) {
    const std::string& name = request.passes[static_cast<size_t>(done)];
    PassCost cost{.pass = name, .task = request.task, .with = size_of(*with)};
    cost.unmeasured = unmeasurable(request);
    Variant variant = all;
    variant[static_cast<size_t>(done)] = true;
    say(fmt::format("Compiling without {}", name));
    const auto without = contest.compiled(variant);
    if (!without && without.error().code == ErrorCode::cancelled) return without.error();
    if (!without) {
      cost.problem = without.error().text();
    } else {
      cost.without = size_of(**without);
      TW_TRY(const std::string other, file_content_key((*without)->path));
      cost.differs = other != program;
    }
    if (without && cost.differs && cost.unmeasured.empty()) {
      int process = 0;
      contest.before_launch = [&] { say(fmt::format("With and without {}, process {}", name, ++process)); };
      TW_TRY(const Comparison c, compare_in_network(all, variant, contest, request.selection, request.stop));
      cost.problem = c.wrong;
      cost.measured = c.wrong.empty();
      cost.launches = c.launches;
      if (cost.measured) cost.ratio = c.network, cost.with_s = c.first_s, cost.without_s = c.second_s;
    }
    contest.discard(variant);
    if (request.on_cost) request.on_cost(cost);
    costs.push_back(std::move(cost));
  }
  say("Done");
  return costs;
}

}  // namespace

Expected<std::vector<PassCost>> pass_costs(const PassCostRequest& request) {
  if (!unmeasurable(request).empty()) return run(request, nullptr);
  const auto notice = [&](const std::string& text) {
    if (request.progress) request.progress(text, 0, static_cast<int>(request.passes.size()));
  };
  TW_TRY(const auto runner, measure::network_runner(request.workers, notice));
  return run(request, runner.get());
}

Expected<std::vector<PassCost>> pass_costs(const PassCostRequest& request, measure::NetworkRunner& runner) { return run(request, &runner); }

const char* verdict_name(const PassCost& c) {
  if (!c.problem.empty()) return c.without.calls > 0 ? "wrong" : "not_compiled";
  if (!c.differs) return "same_program";
  if (!c.measured) return "not_measured";
  return c.ratio.surely_slower() ? "slower" : c.ratio.surely_faster() ? "faster" : "no_difference";
}

std::string verdict_text(const PassCost& c) {
  const std::string name = verdict_name(c);
  if (name == "wrong") return "wrong results without it: " + c.problem;
  if (name == "not_compiled") return "does not compile without it: " + c.problem;
  if (name == "same_program") return "the same program: it does nothing here";
  if (name == "not_measured") return "not measured: " + c.unmeasured;
  return name == "slower" ? "surely slower without it" : name == "faster" ? "surely faster without it" : "no difference";
}

void sort_by_cost(std::vector<PassCost>& costs) {
  std::stable_sort(costs.begin(), costs.end(), [](const PassCost& a, const PassCost& b) {
    if (a.measured != b.measured) return a.measured;
    return a.measured ? a.ratio.ratio > b.ratio.ratio : a.problem.empty() < b.problem.empty();
  });
}

}  // namespace tw::api
