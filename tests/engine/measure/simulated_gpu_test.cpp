// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/simulated_gpu.h"

#include <QtTest>
#include <cmath>

#include "engine/codegen/cuda/cuda_source.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/lower/lower.h"
#include "engine/measure/device.h"
#include "engine/simulate/kernel_time.h"
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
  /// Samples of long kernels lie close together, those of short ones do not; a few are disturbed.
  void noiseOfSamples() {
    const Target target = parse_target("cuda:t4").value();
    const measure::Device device = measure::open_device("sim:t4", target, {}).value();
    const auto spread = [&](int size) {  // the middle one of the standard deviations of logarithms
      std::vector<double> of_kernels;
      for (const int ko : {2, 4, 8, 16, 32}) {
        for (const int iy : {2, 4, 8}) {
          const schedule::Schedule s =
              std::move(testing::tiled_matmul({.m = size, .n = size, .k = size, .vy = 1, .ty = 8, .iy = iy, .vx = 1, .tx = 8, .ix = 4, .ko = ko})).finish().value();
          const records::Task t = task(s, target);
          const std::vector<records::Candidate> candidates{candidate(s)};
          const auto run = device.runner->run(t, device.builder->build(t, candidates, {}), {}, {});
          if (!run[0].ok()) continue;
          double sum = 0, squares = 0;
          const auto n = static_cast<double>(run[0].samples_s.size());
          for (const double x : run[0].samples_s) sum += std::log(x), squares += std::log(x) * std::log(x);
          of_kernels.push_back(std::sqrt(std::max(0.0, squares / n - sum * sum / n / n)));
        }
      }
      std::sort(of_kernels.begin(), of_kernels.end());
      return of_kernels.at(of_kernels.size() / 2);
    };
    const double of_long = spread(1024), of_short = spread(64);
    QVERIFY2(of_long > 0.002 && of_long < 0.02, QByteArray::number(of_long));
    QVERIFY2(of_short > 0.02 && of_short < 0.1, QByteArray::number(of_short));
  }
  /// Any dag has a schedule by rule that a GPU can launch.
  void defaultsCanBeLaunched() {
    for (const char* name : {"k80", "h200"}) {
      const Target target = parse_target(std::string("cuda:") + name).value();
      for (const testing::GpuSchedule& g : testing::gpu_schedules()) {
        const auto seconds = measure::simulated_seconds(space::default_schedule(g.schedule.dag(), target), target);
        QVERIFY2(seconds && *seconds > 0, g.name.c_str());
      }
    }
  }
  /// Finalists are timed with the registers that NVRTC counts, candidates with an estimate.
  void finalistsHaveCompiledRegisters() {
    const Target target = parse_target("cuda:a100").value();
    const schedule::Schedule s =
        std::move(testing::tiled_matmul({.m = 1024, .n = 1024, .k = 512, .vy = 1, .ty = 16, .iy = 8, .vx = 1, .tx = 16, .ix = 8, .ko = 8})).finish().value();
    const tir::Func f = lower::lower_and_optimize(s, "kernel", target).value();
    const auto registers = measure::compiled_registers(f, *target.gpu);
    QVERIFY2(registers, registers ? "" : registers.error().text().c_str());
    const double estimated = measure::simulated_seconds(s, target).value(),
                 compiled = measure::simulated_seconds(s, target, measure::Registers::compiled).value();
    if (!codegen::nvrtc_version()) {
      QVERIFY(registers->empty());
      QCOMPARE(compiled, estimated);
      return;
    }
    const auto binary = codegen::nvrtc_compile(codegen::cuda_source(f)->text, 80);
    QVERIFY(binary && binary->kernels.size() == 1);
    QCOMPARE(*registers, std::vector<int>{binary->kernels[0].registers + static_cast<int>(binary->kernels[0].spill_store_bytes / 4)});
    const simulate::LaunchFacts facts = simulate::launch_facts(f)->front();
    QVERIFY(facts.registers != registers->front());
    QCOMPARE(compiled, simulate::kernel_time(facts, *target.gpu, registers->front()).total);
    QCOMPARE(estimated, simulate::kernel_time(facts, *target.gpu).total);
    // A GPU that this NVRTC does not know keeps the estimate.
    QVERIFY(measure::compiled_registers(f, *target::find_gpu("k80"))->empty());
    // The kernel's own factor is the same in both builds, so their times differ as the estimates do.
    const measure::Device device = measure::open_device("sim:a100", target, {}).value();
    const records::Task t = task(s, target);
    const std::vector<records::Candidate> one{candidate(s)};
    const auto seconds = [&](const std::vector<measure::BuildOutcome>& built) { return device.runner->run(t, built, {}, {})[0].seconds(); };
    const double ratio = seconds(device.builder->build_finalists(t, one, {})) / seconds(device.builder->build(t, one, {}));
    QVERIFY2(std::abs(ratio / (compiled / estimated) - 1) < 0.15, qPrintable(QString::number(ratio)));
  }
  void devicesByName() {
    const Target cpu = host_target(), a100 = parse_target("cuda:a100").value();
    QCOMPARE(measure::open_device("sim:a100", a100, {})->name, std::string("sim:a100"));
    for (const auto& [device, target, wanted] : {std::tuple{"sim:gtx9", a100, "a100"},
                                                 {"sim:t4", a100, "'sim:a100'"},
                                                 {"sim:a100", cpu, "'local'"},
                                                 {"local", a100, "'sim:a100'"},
                                                 {"cuda:x", a100, "'local', 'cuda:' and a number, or 'sim:'"}}) {
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
