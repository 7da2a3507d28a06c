// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/network_on_device.h"

#include "engine/base/text.h"
#include "engine/farm/survey.h"
#include "engine/measure/network_run.h"
#include "engine/process/child_process.h"
#include "engine/process/subprocess.h"
#include "tests/engine/farm/sim_farm.h"
#include "tests/engine/measure/network_fixture.h"

#include <QtTest>

using namespace tw;
using namespace tw::test;

/// Whole networks on a device that has nothing but the agent.
class NetworkOnDeviceTest : public QObject {
  Q_OBJECT

  static std::unique_ptr<process::ChildProcess> agent(const SimFarm& farm, const std::string& name) {
    return std::move(process::ChildProcess::start(TW_BIN_DIR "/tw-agent", {"join", farm::line_of(farm.file.agent("sim").value()), "--name", name, "--folder",
                                                                           farm.folder() + "/" + name})
                         .value());
  }
  static Expected<farm::RanOnDevice> run(const runtime::Executable& e, measure::NetworkRun how = {}, StopToken stop = {}) {
    return farm::run_on_device(
        "farm:sim@test", e, measure::random_inputs(e, 1), how, [](const std::string&) {}, stop);
  }

 private Q_SLOTS:
  void initTestCase() {
    if (!farm::find_nats_server()) QSKIP("nats-server is not installed");
  }

  /// The device's values are those of this machine, whatever threads the network has.
  void values() {
    SimFarm farm;
    const auto a = agent(farm, "a");
    for (const int cores : {1, 2}) {
      const runtime::Executable e = network_of(good_kernel(), cores);
      const auto inputs = measure::random_inputs(e, 1);
      measure::NetworkRun how;
      how.repeat = 7;
      const auto ran = run(e, how);
      QVERIFY2(ran.has_value(), ran ? "" : ran.error().text().c_str());
      QCOMPARE(ran->device, std::string("a"));
      QVERIFY(!ran->emulated);
      QCOMPARE(ran->times.runs_s.size(), size_t{7});
      QCOMPARE(ran->times.outputs.size(), size_t{1});
      const HostArray &x = inputs.begin()->second, &y = ran->times.outputs[0];
      QCOMPARE(y.shape, x.shape);
      for (int64_t i = 0; i < x.num_elements(); ++i) QCOMPARE(y.get(i), 2 * x.get(i));
    }
  }

  /// What a network does to its process harms nothing else, and is said.
  void bad_networks() {
    SimFarm farm;
    const auto a = agent(farm, "a");
    const auto error_of = [&](const runtime::Executable& e, const measure::NetworkRun& how = {}) {
      const auto ran = run(e, how);
      return ran ? std::string("it ran") : ran.error().text();
    };
    const std::string crash = error_of(network_of(crashing_kernel(), 1));
    QVERIFY2(crash.find("SIGSEGV") != std::string::npos, crash.c_str());
    measure::NetworkRun brief;
    brief.run_limit_s = 0.5;
    const std::string endless = error_of(network_of(endless_kernel(), 1), brief);
    QVERIFY2(endless.find("more than 0.5 s") != std::string::npos, endless.c_str());
    runtime::Executable damaged = network_of(good_kernel(), 1);
    damaged.artifact.object.resize(damaged.artifact.object.size() / 2);
    QVERIFY(error_of(damaged) != "it ran");
    runtime::Executable foreign = network_of(good_kernel(), 1);
    foreign.target = parse_target("cortex-a72").value().str();
    const std::string refused = error_of(foreign);
    QVERIFY2(refused.find("could not run it") != std::string::npos, refused.c_str());
    QVERIFY(run(network_of(good_kernel(), 1)).has_value());
  }

  /// The same through encrypted connections. Who has not the server's fingerprint does not join.
  void encrypted() {
    const SimFarm farm("sim", true);
    const auto a = agent(farm, "a");
    const runtime::Executable e = network_of(good_kernel(), 1);
    const auto inputs = measure::random_inputs(e, 1);
    const auto ran = run(e);
    QVERIFY2(ran.has_value(), ran ? "" : ran.error().text().c_str());
    for (int64_t i = 0; i < 4; ++i) QCOMPARE(ran->times.outputs[0].get(i), 2 * inputs.begin()->second.get(i));
    farm::Access other = farm.file.agent("sim").value();
    other.fingerprint = std::string(64, '0');
    process::Subprocess stranger = process::start_program(TW_BIN_DIR "/tw-agent", {"join", farm::line_of(other), "--name", "b", "--folder", farm.folder() + "/b"}).value();
    int status = 0;
    QCOMPARE(::waitpid(stranger.pid, &status, 0), stranger.pid);
    QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  }

  /// Variants race each other on one device, and on that one again, whoever else is there; what one of them does to its process is said.
  void races() {
    const SimFarm farm;
    const QTemporaryDir files;
    const auto file = [&](const char* name, const measure::BuildOutcome& kernel, int cores) {
      const std::string path = files.filePath(QLatin1String(name)).toStdString();
      runtime::save(network_of(kernel, cores), path).value();
      return path;
    };
    std::vector<std::string> notices;
    const auto runner = std::move(farm::network_runner("farm:sim@test", [&](const std::string& text) { notices.push_back(text); }).value());
    measure::NetworkJob job;
    job.files = {file("a.twx", good_kernel(), 1), file("b.twx", good_kernel(), 2)};
    job.block_s = 0.001, job.rounds = 5, job.outputs = true;
    auto a = agent(farm, "a");
    const auto first = runner->run(job, {});
    QVERIFY2(first.has_value(), first ? "" : first.error().text().c_str());
    QCOMPARE(first->variants.size(), size_t{2});
    const HostArray x = measure::random_inputs(network_of(good_kernel(), 1), job.seed).begin()->second;
    for (const measure::VariantTimes& v : first->variants) {
      QVERIFY(v.runs_s.size() == 5 && v.calls_s.size() == 1 && v.calls_s[0].size() == 5);
      for (int64_t i = 0; i < x.num_elements(); ++i) QCOMPARE(v.outputs.at(0).get(i), 2 * x.get(i));
    }
    QVERIFY(!notices.empty() && notices.back().find("'a'") != std::string::npos);
    const auto b = agent(farm, "b");
    const auto measured = [&](const char* name) {
      const farm::Survey now = farm::survey(farm.file).value();
      for (const farm::Presence& p : now.devices)
        if (p.device == name) return p.measured;
      return int64_t{-1};
    };
    QTRY_COMPARE_WITH_TIMEOUT(measured("b"), int64_t{0}, 20'000);
    for (int i = 0; i < 3; ++i) QVERIFY(runner->run(job, {}).has_value());
    QTRY_COMPARE(measured("a"), int64_t{4});
    QCOMPARE(measured("b"), int64_t{0});
    job.files[1] = file("c.twx", crashing_kernel(), 1);
    const auto crash = runner->run(job, {});
    QVERIFY(!crash && crash.error().text().find("SIGSEGV") != std::string::npos);
    job.files.pop_back();
    QVERIFY(runner->run(job, {}).has_value());
    StopSource stop;
    stop.request_stop();
    const auto stopped = runner->run(job, stop.get_token());
    QVERIFY(!stopped && stopped.error().code == ErrorCode::cancelled);
  }

  /// Nobody is there: it says so until it is stopped.
  void without_a_device() {
    SimFarm farm;
    StopSource stop;
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      stop.request_stop();
    });
    const auto ran = run(network_of(good_kernel(), 1), {}, stop.get_token());
    later.join();
    QVERIFY(!ran && ran.error().code == ErrorCode::cancelled);
    QVERIFY(!farm::run_on_device("farm:sim@nowhere", network_of(good_kernel(), 1), {}, {}, [](const std::string&) {}, {}));
  }
};

QTEST_APPLESS_MAIN(NetworkOnDeviceTest)
#include "network_on_device_test.moc"
