// SPDX-License-Identifier: Apache-2.0
// Code for 64-bit Arm, run by qemu-aarch64 through the agent's own program for it: loader, sandbox, timing and values.
#include <filesystem>

#include "engine/base/rng.h"
#include "engine/farm/farm_runner.h"
#include "engine/farm/network_on_device.h"
#include "engine/process/child_process.h"
#include "engine/process/subprocess.h"
#include "engine/space/template.h"
#include "tests/engine/farm/sim_farm.h"
#include "tests/engine/measure/network_fixture.h"

#include <QtTest>

using namespace tw;
using namespace tw::test;

namespace {

constexpr const char* kQemu = "/usr/bin/qemu-aarch64";
constexpr const char* kAgent = TW_AARCH64_DIR "/tw-agent";
#ifdef TW_AARCH64_TLS
constexpr bool kEncrypted = true;
#else
constexpr bool kEncrypted = false;
#endif

te::DagPtr dense(int64_t n, int64_t m, int64_t k, DType t) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {n, k}, t), w = b.placeholder("w", {m, k}, t, te::Role::constant);
  const te::Tensor y = b.reduce(
      "y", {n, m}, {k}, te::Reducer::sum, [&](const te::Indices& i, const te::Indices& r) { return x(i[0], r[0]) * w(i[1], r[0]); }, "dense");
  const te::Tensor z = b.compute("z", {n, m}, [&](const te::Indices& i) { return ir::call(ir::Intrinsic::tanh, {y(i[0], i[1])}); });
  return std::move(b).finish({z});
}

}  // namespace

class Aarch64Test : public QObject {
  Q_OBJECT

  std::unique_ptr<process::ChildProcess> agent(const SimFarm& farm, const char* cpu, const std::string& name) {
    ::setenv("QEMU_CPU", cpu, 1);
    auto p = std::move(process::ChildProcess::start(kQemu, {kAgent, "join", farm::line_of(farm.file.agent("arm").value()), "--name", name, "--folder", farm.folder() + "/" + name,
                                                            "--emulator", kQemu})
                           .value());
    ::unsetenv("QEMU_CPU");
    return p;
  }

 private Q_SLOTS:
  void initTestCase() {
    if (!farm::find_nats_server() || !std::filesystem::exists(kQemu) || !std::filesystem::exists(kAgent))
      QSKIP("nats-server, qemu-aarch64 or the agent for AArch64 is not here");
  }

  void values_data() {
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("qemu");
    QTest::newRow("NEON") << "llvm -mcpu=cortex-a72 -num-cores=1" << "cortex-a72";
    QTest::newRow("SVE of 512 bits") << "llvm -mcpu=a64fx -num-cores=2" << "a64fx";
  }
  /// Default schedules and points of the templates' spaces, verified here against the interpreter.
  void values() {
    QFETCH(QString, target);
    QFETCH(QString, qemu);
    SimFarm farm("arm");
    const auto device = agent(farm, qemu.toUtf8().constData(), "board");
    auto options = farm.session("arm");
    options.lease_s = farm::kLeaseSeconds;
    const auto runner = std::move(farm::FarmRunner::open(options, {}).value());
    measure::WorkerOptions workers;
    workers.worker_path = TW_BIN_DIR "/tw-worker";
    workers.jobs = 1;
    const auto builder = std::move(measure::local_builder(workers).value());
    for (const DType t : {kFloat32, kFloat64}) {
      const records::Task task = records::make_task("dense", dense(8, 32, 64, t), parse_target(target.toStdString()).value());
      std::vector<records::Candidate> candidates{{.steps = space::default_schedule(task.dag, task.target).steps()}};
      Rng rng(1);
      for (const space::Template* one : space::alternatives(*task.dag, task.target)) {
        const auto all = one->space(*task.dag, task.target);
        for (int tries = 0; tries < 200 && candidates.size() < 8; ++tries) {
          const auto point = all.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(all.size()))));
          const auto schedule = point ? one->apply(task.dag, task.target, *point) : Expected<schedule::Schedule>(point.error());
          if (schedule) candidates.push_back({.steps = schedule->steps()});
        }
      }
      const auto builds = builder->build(task, candidates, {});
      const auto results = runner->run(task, builds, {}, {});
      int ran = 0;
      for (size_t i = 0; i < results.size(); ++i) {
        if (results[i].status == records::Status::lower_fail) continue;  // points of a space may be illegal
        ++ran;
        QVERIFY2(results[i].ok() && results[i].verified, (std::to_string(i) + " " + records::status_name(results[i].status) + ": " + results[i].message).c_str());
      }
      QVERIFY(ran > 0);
    }
  }

  /// A whole network for that processor, with its values, which are not this machine's doing; encrypted where the agent can.
  void network() {
    SimFarm farm("arm", kEncrypted);
    const auto device = agent(farm, "cortex-a72", "board");
    const Target board = parse_target("llvm -mcpu=cortex-a72 -num-cores=2").value();
    const Parts p;
    const runtime::Executable e = network_of(compiled(p, p.right(), board), 2, board);
    const auto inputs = measure::random_inputs(e, 1);
    const auto ran = farm::run_on_device("farm:arm@test", e, inputs, {}, [](const std::string&) {}, {});
    QVERIFY2(ran.has_value(), ran ? "" : ran.error().text().c_str());
    QVERIFY(ran->emulated && ran->device == "board");
    const HostArray &x = inputs.begin()->second, &y = ran->times.outputs.at(0);
    for (int64_t i = 0; i < x.num_elements(); ++i) QCOMPARE(y.get(i), 2 * x.get(i));
  }

  /// An agent without mbedTLS says so; it sends no password.
  void without_encryption() {
    if (kEncrypted) QSKIP("the agent for AArch64 has mbedTLS");
    const SimFarm farm("arm", true);
    auto one = process::start_program(kQemu, {kAgent, "join", farm::line_of(farm.file.agent("arm").value()), "--name", "board", "--folder", farm.folder() + "/board"}).value();
    int status = 0;
    QCOMPARE(::waitpid(one.pid, &status, 0), one.pid);
    QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    QVERIFY(read_file(farm::server_log(farm.file)).value().find("authentication error") == std::string::npos);
  }

  /// Code for another processor is refused before anything runs.
  void another_processor() {
    SimFarm farm("arm");
    const auto device = agent(farm, "cortex-a72", "board");
    auto options = farm.session("arm");
    options.lease_s = farm::kLeaseSeconds;
    const auto runner = std::move(farm::FarmRunner::open(options, {}).value());
    measure::WorkerOptions workers;
    workers.worker_path = TW_BIN_DIR "/tw-worker";
    workers.jobs = 1;
    const auto builder = std::move(measure::local_builder(workers).value());
    const records::Task task = records::make_task("dense", dense(4, 4, 4, kFloat32), parse_target("neoverse-v2").value());
    const auto builds = builder->build(task, std::vector<records::Candidate>(1), {});
    QCOMPARE(builds[0].status, records::Status::ok);
    const auto results = runner->run(task, builds, {}, {});
    QCOMPARE(results[0].status, records::Status::infra);
    QVERIFY2(results[0].message.find("found some that needs") != std::string::npos, results[0].message.c_str());
  }
};

QTEST_APPLESS_MAIN(Aarch64Test)
#include "aarch64_test.moc"
