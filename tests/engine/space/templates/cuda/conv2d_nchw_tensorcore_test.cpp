// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/simulate/kernel_time.h"
#include "engine/simulate/legality.h"
#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

Q_DECLARE_METATYPE(te::DagPtr)

class CudaConv2dNchwTensorcoreTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "conv2d_nchw_tensorcore.cuda";
  static GpuCases cases() {
    return {
        {"tensor cores, 3x3", gpu_tensor_conv({1, 16, 8, 8}, {32, 16, 3, 3}, 1, 1)},
        {"tensor cores, stride, odd", gpu_tensor_conv({2, 10, 9, 9}, {21, 10, 3, 3}, 2, 1, kFloat16, true)},
        {"tensor cores, bfloat, 1x1", gpu_tensor_conv({1, 40, 7, 7}, {24, 40, 1, 1}, 1, 0, kBFloat16, true)},
        {"tensor cores, few channels", gpu_tensor_conv({1, 3, 14, 12}, {16, 3, 7, 7}, 2, 3)},
        {"tensor cores, dilated", gpu_tensor_conv({1, 8, 9, 7}, {16, 8, 3, 2}, 1, 2, kFloat16, false, 2)},
        {"tensor cores, TF32", gpu_conv({1, 16, 7, 9}, {24, 16, 3, 3}, 1, 1, 1, "conv2d", true), "cuda:a100,tf32"},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// Untuned convolutions of ResNet-50 in float16: no register spilled, and in simulation faster than by rule and about as fast as any other template.
  void tensorcore_convolutions_data() {
    QTest::addColumn<QString>("gpu");
    QTest::addColumn<te::DagPtr>("dag");
    for (const char* gpu : {"a100", "h200"})
      for (const int64_t batch : {1, 32})
        for (const auto& [in, out, hw, kernel, stride] : {std::array<int64_t, 5>{3, 64, 224, 7, 2},
                                                          {64, 64, 56, 3, 1},
                                                          {256, 64, 56, 1, 1},
                                                          {128, 128, 56, 3, 2},
                                                          {256, 1024, 14, 1, 1},
                                                          {512, 512, 7, 3, 1}})
          QTest::addRow("%s, %d of %d to %d, %d, %d, %d", gpu, int(batch), int(in), int(out), int(hw), int(kernel), int(stride))
              << gpu << gpu_tensor_conv({batch, in, hw, hw}, {out, in, kernel, kernel}, stride, kernel / 2, kFloat16, true);
  }
  void tensorcore_convolutions() {
    QFETCH(QString, gpu);
    QFETCH(te::DagPtr, dag);
    const Target target = parse_target("cuda:" + gpu.toStdString()).value();
    const auto chosen = space::fallback(dag, target);
    const space::Template* t = chosen ? chosen->space_template : nullptr;
    // 49 places are few for tensor cores: others let blocks share a sum.
    const bool few = dag->ops.back().output->shape == std::vector<int64_t>{1, 512, 7, 7};
    QVERIFY(t && (std::string_view(t->name) == "conv2d_nchw_tensorcore.cuda") != few);
    if (few) return;
    const auto func_of = [&](const schedule::Schedule& s) { return lower::lower_and_optimize(s, "kernel", target).value(); };
    const auto seconds = [&](const tir::Func& f) {
      double sum = 0;
      const std::vector<simulate::LaunchFacts> launches = simulate::launch_facts(f).value();
      for (const simulate::LaunchFacts& l : launches) sum += simulate::kernel_time(l, *target.gpu).total;
      return sum;
    };
    const tir::Func func = func_of(t->apply(dag, target, t->fallback(*dag, target)).value());
    QVERIFY(simulate::check_launches(func, *target.gpu));
    const double here = seconds(func), by_rule = seconds(func_of(space::rule_schedule(dag, target, {}).value()));
    const simulate::LaunchFacts facts = simulate::launch_facts(func)->front();
    qInfo("%s: %.1f us, by rule %.1f us, %.1f TFLOP/s, %s", t->fallback(*dag, target).text().c_str(), here * 1e6, by_rule * 1e6,
          static_cast<double>(te::flops(*dag)) / here / 1e12, simulate::kernel_time(facts, *target.gpu).limiter());
    QVERIFY(here < by_rule);
    for (const space::Template* other : space::alternatives(*dag, target)) {
      const space::ConfigEntity e = other->fallback(*dag, target);
      if (other == t || e.index() < 0) continue;
      const double there = seconds(func_of(other->apply(dag, target, e).value()));
      QVERIFY2(here < 1.2 * there, qPrintable(QString("%1: %2 us").arg(other->name).arg(there * 1e6)));
    }
    if (!codegen::nvrtc_version()) return;
    const auto source = codegen::cuda_source(func);
    const auto binary = codegen::nvrtc_compile(source->text, target.gpu->capability);
    QVERIFY2(binary, binary ? "" : binary.error().text().c_str());
    const codegen::KernelResources& r = binary->kernels[0];
    qInfo("%d registers, estimated %d", r.registers, facts.registers);
    QCOMPARE(r.stack_bytes + r.spill_store_bytes + r.spill_load_bytes, int64_t{0});
    if (qEnvironmentVariableIsSet("TW_PRINT")) qInfo("%s\n%s", source->text.c_str(), tir::print(func).c_str());
  }
};

QTEST_APPLESS_MAIN(CudaConv2dNchwTensorcoreTest)
#include "engine/space/templates/cuda/conv2d_nchw_tensorcore_test.moc"
