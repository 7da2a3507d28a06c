// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/simulated_gpu.h"

#include <QtTest>

#include "engine/measure/device.h"
#include "engine/space/template.h"
#include "tests/engine/lower/gpu_schedules.h"

using namespace tw;
using records::Status;

/// Devices by name, and what one that is a formula says.
class SimulatedGpuTest : public QObject {
  Q_OBJECT

  static records::Task task(const schedule::Schedule& s, const Target& target) { return records::make_task("product", s.dag(), target); }
  static records::Candidate candidate(const schedule::Schedule& s) { return {"hand", -1, {}, s.steps()}; }

 private Q_SLOTS:
  void candidatesHaveTimes() {
    const Target target = parse_target("cuda:a100").value();
    const schedule::Schedule good =
        std::move(testing::tiled_matmul({.m = 512, .n = 512, .k = 512, .vy = 1, .ty = 16, .iy = 4, .vx = 1, .tx = 16, .ix = 4, .ko = 8})).finish().value();
    const schedule::Schedule poor =
        std::move(testing::tiled_matmul({.m = 512, .n = 512, .k = 512, .vy = 1, .ty = 2, .iy = 1, .vx = 1, .tx = 2, .ix = 1, .ko = 1})).finish().value();
    const schedule::Schedule large =
        std::move(testing::tiled_matmul({.m = 512, .n = 512, .k = 512, .vy = 1, .ty = 64, .iy = 4, .vx = 1, .tx = 32, .ix = 4, .ko = 8})).finish().value();
    const records::Task t = task(good, target);
    const measure::Device device = measure::open_device("sim:a100", target, {}).value();
    QVERIFY(device.simulated);
    const std::vector<records::Candidate> candidates{candidate(good), candidate(poor), candidate(large)};
    const auto built = device.builder->build(t, candidates, {});
    QCOMPARE(built[0].status, Status::ok);
    QCOMPARE(built[1].status, Status::ok);
    QCOMPARE(built[2].status, Status::build_fail);
    QVERIFY2(built[2].message.find("2048") != std::string::npos, built[2].message.c_str());
    const auto first = device.runner->run(t, std::span(built).first(2), {}, {}), second = device.runner->run(t, std::span(built).first(2), {}, {});
    QVERIFY(first[0].ok() && first[1].ok());
    QVERIFY(first[1].seconds() > 4 * first[0].seconds());
    QCOMPARE(first[0].samples_s, second[0].samples_s);
    // 0.27 GFLOP on 19.5 TFLOP/s: not faster than the arithmetic allows, and no millisecond.
    QVERIFY(first[0].seconds() > 2.0 * 512 * 512 * 512 / 19.5e12 && first[0].seconds() < 1e-3);
  }
  /// Any dag has a schedule by rule that a GPU can launch.
  void defaultsCanBeLaunched() {
    for (const char* name : {"k80", "h200"}) {
      const Target target = parse_target(std::string("cuda:") + name).value();
      for (const testing::GpuSchedule& g : testing::gpu_schedules()) {
        const auto seconds = measure::simulated_seconds(space::default_schedule(g.schedule.dag(), target), target);
        QVERIFY2(seconds && *seconds > 0, g.name);
      }
    }
  }
  void devicesByName() {
    const Target cpu = host_target(), a100 = parse_target("cuda:a100").value();
    QCOMPARE(measure::open_device("sim:a100", a100, {})->name, std::string("sim:a100"));
    for (const auto& [device, target, wanted] : {std::tuple{"sim:gtx9", a100, "a100"},
                                                 {"sim:t4", a100, "'sim:a100'"},
                                                 {"sim:a100", cpu, "'local'"},
                                                 {"local", a100, "'sim:a100'"},
                                                 {"cuda:0", a100, "'local' or 'sim:'"}}) {
      const auto opened = measure::open_device(device, target, {});
      QVERIFY2(!opened, device);
      QCOMPARE(opened.error().code, ErrorCode::invalid_argument);
      QVERIFY2(opened.error().message.find(wanted) != std::string::npos, opened.error().message.c_str());
    }
    QVERIFY(measure::is_simulated("sim:t4") && !measure::is_simulated("local"));
  }
};

QTEST_APPLESS_MAIN(SimulatedGpuTest)
#include "simulated_gpu_test.moc"
