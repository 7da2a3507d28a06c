// SPDX-License-Identifier: Apache-2.0
#include "engine/api/pass_cost.h"

#include <algorithm>
#include <cmath>

#include "engine/api/explain.h"
#include "engine/codegen/codegen.h"
#include "engine/measure/interpreted_gpu.h"
#include "engine/runtime/gpu_executor.h"
#include "tests/engine/api/tiny_network.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;
using namespace tw::api;

/// Passes left out: results stay what they are, and what that costs is measured by turns.
class PassCostTest : public QObject {
  Q_OBJECT

  /// A random point of its template for every task that has one, so that all that schedules may ask for meets the passes.
  class RandomPoints : public records::RecordSource {
   public:
    RandomPoints(const Network& network, const Target& target, uint64_t seed) {
      Rng rng(seed);
      for (const NetworkTask& t : network_tasks(network, target)) {
        for (int attempt = 0; attempt < 50 && t.space != "default"; ++attempt) {
          auto c = candidate_at(t.task, rng.range(0, t.space_size - 1));
          if (!c) continue;
          records::Record r{t.task.key, *c, {}};
          r.origin = "session 1, trial 1";
          r.result.status = records::Status::ok, r.result.samples_s = {1e-5}, r.result.verified = true;
          points_.emplace(t.task.key, std::move(r));
          break;
        }
      }
    }
    Expected<std::optional<records::Record>> best(const std::string& key, records::Weights) override {
      const auto it = points_.find(key);
      return it == points_.end() ? std::optional<records::Record>() : std::optional(it->second);
    }

   private:
    std::map<std::string, records::Record> points_;
  };

  struct Reference {
    std::map<std::string, HostArray> inputs;
    std::vector<HostArray> outputs;
    std::vector<double> tolerances;
  };
  static Reference reference_of(const graph::Graph& imported) {
    Reference r;
    Rng rng(7);
    for (const int v : imported.inputs) {
      const graph::Value& value = imported.values[static_cast<size_t>(v)];
      HostArray a = HostArray::make(value.type.dtype, value.type.shape);
      for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, value.type.dtype.is_float() ? rng.uniform_real() - 0.5 : static_cast<double>(rng.range(0, 3)));
      r.inputs.emplace(value.name, std::move(a));
    }
    r.outputs = run_reference(imported, r.inputs, host_target()).value();
    r.tolerances = output_tolerances(imported).value();
    return r;
  }

  /// What is wrong with a network without a pass; empty if nothing.
  static std::string wrong_without(const Network& network, const Target& target, const std::string& name, const Reference& reference,
                                   records::RecordSource* records) {
    const LeftOut names = left_out({name}).value();
    CompileOptions options;
    options.without = names.kernel;
    options.machine_code = false;
    graph::PassHooks hooks;
    hooks.disabled = names.graph;
    hooks.enabled = network.enabled;
    Network n = network;
    auto optimized = graph::run_passes(n.imported, target, hooks);
    if (!optimized) return optimized.error().text();
    n.optimized = std::move(*optimized);
    auto parts = graph::partition(n.optimized);
    if (!parts) return parts.error().text();
    n.partition = std::move(*parts);
    auto e = compile(std::move(n), target, records, options);
    if (!e) return e.error().text();
    auto shared = std::make_shared<const runtime::Executable>(std::move(*e));
    std::unique_ptr<runtime::LoadedModule> host;
    if (!shared->artifact.object.empty()) host = codegen::load_object(shared->artifact.object).value();
    auto executor = target.gpu ? runtime::create_gpu_executor(shared, measure::interpreted_gpu(*target.gpu), std::move(host), 1)
                               : runtime::GraphExecutor::create(shared, std::move(host), 1);
    if (!executor) return executor.error().text();
    std::map<std::string, HostArray> inputs;
    for (const int s : shared->inputs)
      inputs.emplace(shared->slots[static_cast<size_t>(s)].spec.name, reference.inputs.at(shared->slots[static_cast<size_t>(s)].spec.name));
    for (int run = 0; run < 2; ++run) {  // the second starts from what the first left in the arena
      if (auto r = (*executor)->set_inputs(inputs); !r) return r.error().text();
      if (auto r = (*executor)->run(nullptr); !r) return r.error().text();
    }
    const auto got = (*executor)->outputs().value();
    for (size_t i = 0; i < got.size(); ++i)
      if (const double off = compare(got[i], reference.outputs[i]).max_rel; !(off <= reference.tolerances[i]))
        return "output " + std::to_string(i) + " is off by " + std::to_string(off) + ", where " + std::to_string(reference.tolerances[i]) + " is allowed";
    return {};
  }

  /// Answers with made-up times: each kernel takes its FLOPs and what a call costs.
  class MadeUpRunner : public measure::NetworkRunner {
   public:
    int jobs = 0;
    bool wrong = false;
    double second = 1;  ///< the second network takes so many times as long
    Expected<measure::NetworkTimes> run(const measure::NetworkJob& job, StopToken) override {
      ++jobs;
      Rng rng(job.seed);
      measure::NetworkTimes times;
      for (size_t f = 0; f < job.files.size(); ++f) {
        TW_TRY(const runtime::Executable e, runtime::load_executable(job.files[f]));
        measure::VariantTimes v;
        v.runs_s.assign(static_cast<size_t>(job.rounds), 0);
        for (const runtime::Call& c : e.calls) {
          v.calls_s.emplace_back();
          for (int r = 0; r < job.rounds; ++r) v.calls_s.back().push_back((1e-6 + 1e-9 * c.flops) * (f == 1 ? second : 1) * (1 + 0.01 * rng.uniform_real()));
        }
        v.woke.assign(e.calls.size(), false);
        for (const int s : e.outputs) {
          if (!job.outputs) continue;
          HostArray out = HostArray::make(e.slots[static_cast<size_t>(s)].spec.dtype, e.slots[static_cast<size_t>(s)].spec.shape);
          for (int64_t i = 0; i < out.num_elements(); ++i) out.set(i, wrong && f == 1 ? 2 : 1);
          v.outputs.push_back(std::move(out));
        }
        times.variants.push_back(std::move(v));
      }
      return times;
    }
  };

  Target target_ = host_target();
  Network network_;

  PassCostRequest request(std::vector<std::string> passes) const {
    PassCostRequest r;
    r.network = &network_;
    r.target = &target_;
    r.device = "local";
    r.passes = std::move(passes);
    r.workers.worker_path = TW_BIN_DIR "/tw-worker";
    r.selection.launches = 2;
    return r;
  }

 private Q_SLOTS:
  void initTestCase() {
    target_.cores = 1;
    network_ = api::testing::tiny_network("lenet5", target_);
  }

  void names_are_checked() {
    QVERIFY(find_pass("fuse_operators")->of_graph && !find_pass("simplify")->of_graph && !find_pass("no_such_pass"));
    QCOMPARE(std::count_if(all_passes().begin(), all_passes().end(), [](const PassFacts& p) { return p.name == "simplify"; }), 1);
    const LeftOut both = left_out({"simplify", "fuse_operators"}).value();
    QCOMPARE(both.graph, std::vector<std::string>{"fuse_operators"});
    QCOMPARE(both.kernel, std::vector<std::string>{"simplify"});
    const Error unknown = left_out({"no_such_pass"}).error();
    QVERIFY(unknown.code == ErrorCode::invalid_argument && unknown.message.find("fuse_operators") != std::string::npos);
    const Error needed = left_out({"insert_barriers"}).error();
    QVERIFY2(needed.message.find(find_pass("insert_barriers")->needed) != std::string::npos, needed.message.c_str());
    tir::PassHooks hooks;
    for (const char* name : {"insert_barriers", "no_such_pass"}) {
      hooks.disabled = {name};
      QCOMPARE(tir::run_passes(tir::Func{"f", {}, 0, tir::seq({})}, target_, hooks).error().code, ErrorCode::invalid_argument);
    }
  }

  void results_stay_without_any_pass_that_may_be_left_out_data() {
    QTest::addColumn<std::string>("network");
    QTest::addColumn<bool>("gpu");
    for (const char* name : {"lenet5", "mobilenet_v2", "shufflenet_v2", "bert_base"}) QTest::newRow(name) << std::string(name) << false;
    for (const char* name : {"mlp", "mobilenet_v2"}) QTest::addRow("%s on a GPU", name) << std::string(name) << true;
  }
  void results_stay_without_any_pass_that_may_be_left_out() {
    QFETCH(std::string, network);
    QFETCH(bool, gpu);
    const Target target = gpu ? gpu_target(*target::find_gpu("a100")) : target_;
    const Network n = api::testing::tiny_network(network, target);
    const Reference reference = reference_of(n.imported);
    RandomPoints points(n, target, 3);
    for (const PassFacts& p : all_passes()) {
      if (!p.needed.empty()) continue;
      // Kernels of other tasks, which leaving out a graph pass makes, are untuned.
      const std::string wrong = wrong_without(n, target, p.name, reference, p.of_graph ? nullptr : &points);
      QVERIFY2(wrong.empty(), ("without " + p.name + ": " + wrong).c_str());
    }
  }

  void costs_say_what_comes_of_it() {
    MadeUpRunner runner;
    PassCostRequest r = request({"fuse_operators", "widen_sums", "merge_allocations"});
    std::vector<std::string> said, told;
    int most = 0;
    r.progress = [&](const std::string& what, int done, int total) {
      said.push_back(what);
      most = std::max(most, done);
      QCOMPARE(total, 3);
    };
    r.on_cost = [&](const PassCost& c) { told.push_back(c.pass); };
    const auto costs = pass_costs(r, runner);
    QVERIFY2(costs, costs ? "" : costs.error().text().c_str());
    QCOMPARE(told, r.passes);
    QCOMPARE(most, 3);
    QVERIFY(said.size() > 3);
    const PassCost& fusion = (*costs)[0];
    QVERIFY(fusion.measured && fusion.differs && fusion.problem.empty() && fusion.unmeasured.empty());
    QVERIFY(fusion.without.calls > fusion.with.calls && fusion.with.calls > 0 && fusion.with.kernels > 0);
    QVERIFY(fusion.without.arena_bytes > 0 && fusion.with.code_bytes > 0);
    QVERIFY(fusion.ratio.surely_slower());  // a call costs
    QCOMPARE(std::string(verdict_name(fusion)), std::string("slower"));
    QVERIFY(std::abs(fusion.without_s / fusion.with_s / fusion.ratio.ratio - 1) < 0.02);
    // In float32 there is nothing to widen: the program is the same, and nothing runs.
    const PassCost& same = (*costs)[1];
    QVERIFY(!same.differs && !same.measured && same.launches == 0);
    QCOMPARE(std::string(verdict_name(same)), std::string("same_program"));
    int launches = 0;
    for (const PassCost& c : *costs) launches += c.launches;
    QCOMPARE(runner.jobs, launches);
    std::vector<PassCost> sorted{same, fusion};
    sort_by_cost(sorted);
    QCOMPARE(sorted[0].pass, fusion.pass);
  }

  void verdicts_follow_the_interval() {
    for (const auto& [second, name] : {std::pair(0.3, "faster"), std::pair(3.0, "slower")}) {
      MadeUpRunner runner;
      runner.second = second;
      const auto costs = pass_costs(request({"fuse_operators"}), runner);
      QVERIFY(costs.has_value());
      QCOMPARE(std::string(verdict_name(costs->front())), std::string(name));
    }
    PassCost tie{.pass = "p", .measured = true, .ratio = {1, 0.99, 1.01}};
    QCOMPARE(verdict_text(tie), std::string("no difference"));
    tie.problem = "off";
    QCOMPARE(std::string(verdict_name(tie)), std::string("not_compiled"));
  }

  void wrong_results_are_no_times() {
    MadeUpRunner runner;
    runner.wrong = true;
    const auto costs = pass_costs(request({"fuse_operators"}), runner);
    QVERIFY(costs && !costs->front().measured && costs->front().problem.find("output 0") == 0);
    QCOMPARE(std::string(verdict_name(costs->front())), std::string("wrong"));
  }

  void one_task_alone() {
    MadeUpRunner runner;
    PassCostRequest r = request({"vectorize_loops"});
    const auto all = pass_costs(r, runner);
    QVERIFY(all && all->front().differs);
    r.task = network_tasks(network_, target_)[0].task.key;
    const auto one = pass_costs(r, runner);
    QVERIFY(one && one->front().differs && one->front().task == r.task);
    QVERIFY(one->front().without.code_bytes != all->front().without.code_bytes);
    r.passes = {"fuse_operators"};
    const auto graph = pass_costs(r, runner);
    QVERIFY(!graph && graph.error().code == ErrorCode::invalid_argument);
  }

  void simulated_networks_are_compared_and_not_run() {
    const Target gpu = *parse_target("cuda:a100");
    const Network network = api::testing::tiny_network("mlp", gpu);
    PassCostRequest r = request({"fuse_operators"});
    r.network = &network;
    r.target = &gpu;
    for (const char* device : {"sim:a100", "recorded:some.twdb"}) {
      r.device = device;
      const auto costs = pass_costs(r);
      QVERIFY2(costs, costs ? "" : costs.error().text().c_str());
      QVERIFY(!costs->front().measured && costs->front().differs && !costs->front().unmeasured.empty());
      QVERIFY(costs->front().without.calls > costs->front().with.calls);
      QCOMPARE(std::string(verdict_name(costs->front())), std::string("not_measured"));
    }
    r.device = "local";
    r.measure = false;
    QVERIFY(!pass_costs(r)->front().measured);
  }

  /// The real worker: whatever this machine's times are, they are there, and the results agree.
  void networks_run_in_the_worker() {
    PassCostRequest r = request({"fuse_operators", "vectorize_loops"});
    r.selection.time_s = 0;
    const auto costs = pass_costs(r);
    QVERIFY2(costs, costs ? "" : costs.error().text().c_str());
    for (const PassCost& c : *costs) {
      QVERIFY2(c.measured, verdict_text(c).c_str());
      QCOMPARE(c.launches, 2);
      QVERIFY(c.with_s > 0 && c.without_s > 0 && c.ratio.low <= c.ratio.ratio && c.ratio.ratio <= c.ratio.high);
    }
    std::stop_source source;
    source.request_stop();
    r.stop = source.get_token();
    const auto stopped = pass_costs(r);
    QVERIFY(!stopped && stopped.error().code == ErrorCode::cancelled);
  }
};

QTEST_APPLESS_MAIN(PassCostTest)
#include "pass_cost_test.moc"
