// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/network_on_device.h"

#include "engine/base/text.h"
#include "engine/measure/network_executor.h"
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
