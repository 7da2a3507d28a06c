// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/farm_runner.h"

#include <QtTest>

#include "engine/base/text.h"
#include "engine/farm/survey.h"
#include "engine/process/child_process.h"
#include "tests/engine/farm/sim_farm.h"
#include "tests/engine/measure/gpu_fixture.h"

using namespace tw;
using namespace tw::test;
using records::MeasureResult;
using records::Status;

namespace {

/// `tw-agent` as its own process.
class AgentProcess {
 public:
  AgentProcess(const SimFarm& farm, const std::string& name, const std::vector<std::string>& more = {})
      : process_(std::move(process::ChildProcess::start(TW_BIN_DIR "/tw-agent", arguments(farm, name, more)).value())) {}
  pid_t pid() const { return process_->pid(); }
  process::ChildProcess& process() { return *process_; }

 private:
  static std::vector<std::string> arguments(const SimFarm& farm, const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> all{"join", farm::line_of(farm.file.agent("sim").value()), "--name", name, "--folder", farm.folder() + "/" + name};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::unique_ptr<process::ChildProcess> process_;
};

std::string told(const std::vector<MeasureResult>& results) {
  std::string out;
  for (const MeasureResult& r : results) out += fmt::format("{}: {}\n", records::status_name(r.status), r.message);
  return out;
}

}  // namespace

/// Kernels through real agents, as a session has them measured.
class FarmRunnerTest : public QObject {
  Q_OBJECT

  static std::unique_ptr<measure::Runner> open(const SimFarm& farm, const std::string& session = "session") {
    auto options = farm.session("sim", session);
    options.lease_s = farm::kLeaseSeconds;
    return std::move(farm::FarmRunner::open(options, {}).value());
  }

 private Q_SLOTS:
  void initTestCase() {
    if (!farm::find_nats_server()) QSKIP("nats-server is not installed");
  }

  /// Good and bad kernels end as they do on this machine, on whichever device.
  void kernels() {
    SimFarm farm;
    AgentProcess a(farm, "a"), b(farm, "b");
    const auto runner = open(farm);
    const records::Task task = doubling_task();
    const Parts parts;
    const measure::BuildOutcome half = compiled(parts, Parts::loop(kSize / 2, [&](const ir::Expr& i) { return parts.set_y(i, parts.x_at(i) * Parts::number(2)); }));
    std::vector<measure::BuildOutcome> builds(12, good_kernel());
    builds[3] = half;
    builds[5] = {Status::build_fail, "it was not built", nullptr, 0.5};
    builds[7] = endless_kernel();
    measure::RunOptions options;
    options.timeout_s = 1;
    const auto results = runner->run(task, builds, options, {});
    QCOMPARE(results.size(), builds.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const Status want = i == 3 ? Status::wrong_output : i == 5 ? Status::build_fail : i == 7 ? Status::run_timeout : Status::ok;
      QVERIFY2(results[i].status == want, told(results).c_str());
      if (want != Status::ok) continue;
      QVERIFY(results[i].verified && results[i].seconds() > 0 && results[i].samples_s.size() >= 5);
    }
    QVERIFY(runner->references({}).value().flop_per_s > 0);
    // Those that run against each other do so on one device.
    options.samples = 3;
    for (int round = 0; round < 4; ++round) {
      options.input_seed = static_cast<uint64_t>(round);
      const auto final = runner->run(task, {builds.data(), 1}, options, {});
      QVERIFY2(final[0].ok() && final[0].samples_s.size() == 3, told(final).c_str());
    }
  }

  /// An agent is killed while it measures, and another one takes over; a session that is stopped takes its jobs back.
  void a_killed_agent() {
    SimFarm farm;
    auto a = std::make_unique<AgentProcess>(farm, "a");
    const auto runner = open(farm);
    const records::Task task = doubling_task();
    std::vector<measure::BuildOutcome> builds(6, good_kernel());
    int measured = 0;
    std::unique_ptr<AgentProcess> b;
    runner->watch([&](size_t, measure::Stage stage) {
      if (stage != measure::Stage::measured || ++measured != 2) return;
      a.reset();  // SIGKILL for it and all that it started
      b = std::make_unique<AgentProcess>(farm, "a");
    });
    const auto results = runner->run(task, builds, {}, {});
    for (const MeasureResult& r : results) QVERIFY2(r.ok(), told(results).c_str());
    QCOMPARE(measured, 6);
    runner->watch({});
    b.reset();
    StopSource stop;
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      stop.request_stop();
    });
    const auto stopped = runner->run(task, builds, {}, stop.get_token());
    later.join();
    for (const MeasureResult& r : stopped) QCOMPARE(r.status, Status::cancelled);
    const farm::Survey survey = farm::survey(farm.file, 0.1).value();
    for (const farm::QueueState& q : survey.queues) QVERIFY2(q.length.waiting == 0, q.queue.c_str());
  }

  /// Kernels for a GPU through an agent whose machine has one, on a stand-in for the driver: good ones, wrong ones, and those that take the context or the
  /// worker with them.
  void gpu() {
    qputenv("TW_CUDA_DRIVER", TW_FAKE_CUDA_LIBRARY);
    SimFarm farm;
    AgentProcess a(farm, "a", {"--gpu", "cuda:0", "--worker", TW_BIN_DIR "/tw-worker"});
    const auto runner = open(farm);
    const std::vector<std::pair<std::string, Status>> kernels{{"double 1000", Status::ok}, {"nothing", Status::wrong_output}, {"fail 700", Status::run_crash},
                                                              {"double 1000", Status::ok}, {"hang", Status::run_timeout},     {"double 1000", Status::ok}};
    std::vector<measure::BuildOutcome> builds;
    for (const auto& [action, status] : kernels) builds.push_back(fake_kernel(action));
    measure::RunOptions options;
    options.timeout_s = 1;
    const auto results = runner->run(gpu_doubling_task(), builds, options, {});
    for (size_t i = 0; i < kernels.size(); ++i) QVERIFY2(results[i].status == kernels[i].second, told(results).c_str());
    // Code for a processor is refused there.
    const auto refused = runner->run(doubling_task(), std::vector<measure::BuildOutcome>{good_kernel()}, options, {});
    QVERIFY2(refused[0].status == Status::infra && refused[0].message.find("found some for") != std::string::npos, told(refused).c_str());
    const farm::Survey survey = farm::survey(farm.file).value();
    QVERIFY(survey.devices.size() == 1 && survey.devices[0].target.find("h200") != std::string::npos);
    qunsetenv("TW_CUDA_DRIVER");
  }

  /// What the agent says when it is used wrongly.
  void usage() {
    const auto ends_with = [](const std::vector<std::string>& arguments, const char* text) {
      const auto p = std::move(process::ChildProcess::start(TW_BIN_DIR "/tw-agent", arguments).value());
      const auto end = p->reap();
      p->drain_output();
      QVERIFY2(p->printed().find(text) != std::string::npos && end.code != 0, p->printed().c_str());
    };
    ends_with({"join", "nonsense"}, "Expected the line that");
    ends_with({"join", "x", "--nam", "y"}, "Expected '--name'");
    ends_with({}, "Expected 'join'");
  }
};

QTEST_APPLESS_MAIN(FarmRunnerTest)
#include "farm_runner_test.moc"
