// SPDX-License-Identifier: Apache-2.0
#include "engine/api/network_finals.h"

#include <cmath>
#include <set>

#include "engine/api/explain.h"
#include "engine/api/in_place.h"
#include "engine/farm/survey.h"
#include "engine/process/child_process.h"
#include "engine/tune/candidate.h"
#include "tests/engine/api/tiny_network.h"
#include "tests/engine/farm/sim_farm.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;
using namespace tw::api;
using tw::test::SimFarm;

namespace {

/// Answers with made-up times: tuned kernels take `in_place` times as long as the default ones, each of which takes its FLOPs.
class MadeUpRunner : public measure::NetworkRunner {
 public:
  std::function<double(const runtime::Call&)> in_place = [](const runtime::Call&) { return 0.8; };
  bool wrong = false, crashes = false;
  std::set<std::string> files;
  int jobs = 0;

  Expected<measure::NetworkTimes> run(const measure::NetworkJob& job, StopToken) override {
    ++jobs;
    Rng rng(job.seed);
    measure::NetworkTimes times;
    for (const std::string& file : job.files) {
      files.insert(file);
      TW_TRY(const runtime::Executable e, runtime::load_executable(file));
      measure::VariantTimes v;
      v.runs_s.assign(static_cast<size_t>(job.rounds), 0);
      bool tuned = false;
      for (const runtime::Call& c : e.calls) {
        const bool by_record = c.origin.rfind("default", 0) != 0 && !c.task_key.empty();
        tuned |= by_record;
        const double seconds = 1e-9 * (1000 + c.flops) * (by_record ? in_place(c) : 1);
        v.calls_s.emplace_back();
        for (int r = 0; r < job.rounds; ++r) {
          v.calls_s.back().push_back(seconds * (1 + 0.01 * rng.uniform_real()));
          v.runs_s[static_cast<size_t>(r)] += v.calls_s.back().back();
        }
      }
      v.woke.assign(e.calls.size(), false);
      if (job.outputs) {
        for (const int s : e.outputs) {
          HostArray out = HostArray::make(e.slots[static_cast<size_t>(s)].spec.dtype, e.slots[static_cast<size_t>(s)].spec.shape);
          for (int64_t i = 0; i < out.num_elements(); ++i) out.set(i, wrong && tuned ? 2 : 1);
          v.outputs.push_back(std::move(out));
        }
      }
      if (crashes && tuned) return Error(ErrorCode::infrastructure, "The network ended with SIGSEGV");
      times.variants.push_back(std::move(v));
    }
    return times;
  }
};

}  // namespace

class NetworkFinalsTest : public QObject {
  Q_OBJECT
  Target target_ = host_target();
  Network network_;
  std::vector<TriedTask> tasks_;

  NetworkFinalsRequest request() const {
    NetworkFinalsRequest r;
    r.network = &network_;
    r.target = &target_;
    r.tasks = tasks_;
    r.device = "local";
    r.workers.worker_path = TW_BIN_DIR "/tw-worker";
    return r;
  }

 private Q_SLOTS:
  void initTestCase() {
    target_.cores = 1;
    network_ = api::testing::tiny_network("lenet5", target_);
    Rng rng(1);
    for (const NetworkTask& t : network_tasks(network_, target_)) {
      TriedTask tried{t, 2e-5, std::nullopt};
      for (int attempt = 0; attempt < 50 && t.space != "default"; ++attempt) {
        auto c = candidate_at(t.task, rng.range(0, t.space_size - 1));
        if (!c) continue;
        records::Record r{t.task.key, *c, {}};
        r.result.status = records::Status::ok;
        r.result.samples_s = {1e-5};
        r.result.verified = true;
        tried.best = r;
        break;
      }
      tasks_.push_back(std::move(tried));
    }
  }

  void what_gains_in_place_is_taken() {
    MadeUpRunner runner;
    const auto report = run_network_finals(request(), runner);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QVERIFY(report->measured && report->tried >= 4);
    QCOMPARE(report->taken, report->tried);
    QVERIFY(report->network.surely_faster() && report->tuned_s < report->default_s);
    QVERIFY(std::abs(report->tuned_s / report->default_s / report->network.ratio - 1) < 0.01);
    QCOMPARE(report->kernels.size(), tasks_.size());
    double weights = 0, tried = 0;
    for (const KernelFinal& k : report->kernels) {
      weights += k.weight;
      if (!k.tried) continue;
      tried += k.weight;
      QCOMPARE(k.standing, Standing::taken);
      QVERIFY(k.record && std::abs(k.in_place.ratio - 0.8) < 0.3);  // with the layout changes around it
      QVERIFY(k.place_s > 0 && k.place_default_s > k.place_s);
    }
    QVERIFY(std::abs(report->default_estimate_s - 2e-5 * weights) < 1e-12);
    QVERIFY(std::abs(report->tuned_estimate_s - (2e-5 * (weights - tried) + 1e-5 * tried)) < 1e-12);
    QCOMPARE(runner.jobs, report->launches);
    for (const std::string& file : runner.files) QVERIFY(!QFile::exists(QString::fromStdString(file)));  // nothing is left behind
  }

  void what_loses_in_place_is_not() {
    MadeUpRunner runner;
    std::string loser;
    for (const TriedTask& t : tasks_)
      if (t.best && loser.empty()) loser = t.task.task.key;
    runner.in_place = [&](const runtime::Call& c) { return c.task_key == loser ? 3 : 0.7; };
    const auto report = run_network_finals(request(), runner);
    QVERIFY(report && report->taken > 0 && report->taken < report->tried);
    for (const KernelFinal& k : report->kernels)
      if (k.task_key == loser) QVERIFY(k.standing == Standing::slower_in_place && k.in_place.low > 1);
    runner.in_place = [](const runtime::Call&) { return 1.2; };
    const auto none = run_network_finals(request(), runner);
    QVERIFY(none && none->taken == 0);
    QCOMPARE(none->tuned_s, none->default_s);
    QCOMPARE(none->tuned_estimate_s, none->default_estimate_s);
  }

  void wrong_outputs_are_not_taken() {
    MadeUpRunner runner;
    runner.wrong = true;
    const auto report = run_network_finals(request(), runner);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QCOMPARE(report->taken, 0);
    QVERIFY(report->default_s > 0);
  }

  void networks_that_die_are_not_taken() {
    MadeUpRunner runner;
    runner.crashes = true;
    const auto report = run_network_finals(request(), runner);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QVERIFY(report->tried >= 4 && report->taken == 0 && report->default_s > 0);
  }

  void default_winners_and_simulated_times_need_no_finals() {
    NetworkFinalsRequest r = request();
    for (TriedTask& t : r.tasks)
      if (t.best) t.best->candidate = tune::default_candidate(t.task.task);
    MadeUpRunner runner;
    const auto report = run_network_finals(r, runner);
    QVERIFY(report && report->tried == 0 && report->taken == 0 && report->default_s > 0);
    r = request();
    for (const char* device : {"sim:a100", "recorded:some.twdb"}) {
      r.device = device;
      const auto formula = run_network_finals(r);
      QVERIFY(formula && !formula->measured && formula->taken >= 4 && formula->launches == 0);
      QVERIFY(formula->tuned_estimate_s < formula->default_estimate_s);
    }
  }

  /// The real worker: whatever this machine's times are, the report holds together.
  void networks_run_in_the_worker() {
    NetworkFinalsRequest r = request();
    r.selection.launches = r.selection.confirming = 2;
    r.selection.time_s = 0;
    std::vector<std::string> said;
    r.progress = [&](const std::string& text) { said.push_back(text); };
    const auto report = run_network_finals(r);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QVERIFY(report->tried >= 4 && report->default_s > 0 && report->launches >= 2 && !said.empty());
    QVERIFY(report->taken == 0 ? report->tuned_s == report->default_s : !report->network.surely_slower());
    for (const KernelFinal& k : report->kernels) QVERIFY(k.standing != Standing::wrong_in_place);
    std::stop_source source;
    source.request_stop();
    r.stop = source.get_token();
    const auto stopped = run_network_finals(r);
    QVERIFY(!stopped && stopped.error().code == ErrorCode::cancelled);
  }

  /// The same on a farm: all of it on one of two devices, which have nothing but the agent.
  void networks_run_on_one_device_of_a_farm() {
    if (!farm::find_nats_server()) QSKIP("nats-server is not installed");
    const SimFarm farm;
    std::vector<std::unique_ptr<process::ChildProcess>> agents;
    for (const char* name : {"a", "b"})
      agents.push_back(std::move(process::ChildProcess::start(TW_BIN_DIR "/tw-agent", {"join", farm::line_of(farm.file.agent("sim").value()), "--name", name, "--folder",
                                                                                       farm.folder() + "/" + name})
                                     .value()));
    NetworkFinalsRequest r = request();
    r.device = "farm:sim@test";
    r.selection.launches = r.selection.confirming = 2;
    r.selection.time_s = 0;
    const auto report = run_network_finals(r);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QVERIFY(report->measured && report->tried >= 4 && report->default_s > 0 && report->launches >= 2);
    for (const KernelFinal& k : report->kernels) QVERIFY(k.standing != Standing::wrong_in_place && k.place_default_s >= 0);
    const farm::Survey now = farm::survey(farm.file).value();
    QCOMPARE(std::count_if(now.devices.begin(), now.devices.end(), [](const farm::Presence& p) { return p.measured > 0; }), std::ptrdiff_t{1});
  }

  /// A GPU's networks run in the worker itself; here by the interpreter, whose times are a formula's.
  void networks_for_gpus_run_in_the_worker() {
    const Target gpu = *parse_target("cuda:a100");
    const Network network = api::testing::tiny_network("mlp", gpu);
    CompileOptions options;
    options.machine_code = false;
    const runtime::Executable e = compile(network, gpu, nullptr, options).value();
    const QTemporaryDir folder;
    measure::NetworkJob job;
    job.files = {folder.filePath("a.twx").toStdString(), folder.filePath("b.twx").toStdString()};
    for (const std::string& file : job.files) runtime::save(e, file).value();
    job.device = "sim:a100";
    job.rounds = 2;
    job.block_s = 0;
    job.outputs = true;
    measure::WorkerOptions workers;
    workers.worker_path = TW_BIN_DIR "/tw-worker";
    const auto runner = measure::network_runner(workers).value();
    for (int i = 0; i < 2; ++i) {  // in a fresh process each
      const auto times = runner->run(job, {});
      QVERIFY2(times, times ? "" : times.error().text().c_str());
      for (const measure::VariantTimes& v : times->variants) {
        QCOMPARE(v.calls_s.size(), e.calls.size());
        for (const auto& call : v.calls_s) QVERIFY(call.size() == 2 && call[0] > 0 && call[1] > 0);
        QCOMPARE(v.outputs.size(), e.outputs.size());
      }
    }
    job.device = "sim:no_such_gpu";
    const auto unknown = runner->run(job, {});
    QVERIFY(!unknown && unknown.error().text().find("no_such_gpu") != std::string::npos);
  }

  void the_state_of_weights_follows_their_size() {
    QCOMPARE(weights_of(network_, target_), records::Weights::warm);
    Target small = target_;
    small.l2_bytes = small.l3_share_bytes = 1024;
    QCOMPARE(weights_of(network_, small), records::Weights::cold);
  }
};

QTEST_APPLESS_MAIN(NetworkFinalsTest)
#include "network_finals_test.moc"
