// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/space/fallback.h"
#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaGemmTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "gemm.cuda";
  static GpuCases cases() {
    return {
        {"gemm, relu", gpu_conv({1, 6, 8, 8}, {8, 6, 3, 3}, 1, 1, 1, "conv2d", true)},
        {"gemm, stride, two odd images", gpu_conv({2, 8, 9, 7}, {10, 8, 3, 3}, 2, 1)},
        {"gemm, one tap", gpu_conv({2, 32, 6, 6}, {24, 32, 1, 1}, 1, 0, 1, "conv2d", true)},
        {"gemm, one tap, odd", gpu_conv({1, 16, 7, 7}, {33, 16, 1, 1}, 1, 0)},
        {"gemm, a line", gpu_conv({2, 12, 20}, {10, 12, 3}, 1, 1, 1, "conv1d")},
        {"gemm, volumes", gpu_conv({1, 4, 4, 5, 6}, {4, 4, 3, 3, 3}, 1, 1, 1, "conv3d")},
        {"gemm, channels last", gpu_channels_last({1, 6, 9, 16}, {3, 3, 16, 24}, 1, 1)},
        {"gemm, one pixel", gpu_conv({1, 16, 1, 1}, {12, 16, 3, 3}, 1, 1, 1, "conv2d", true)},
        {"gemm, dense, fused", gpu_dense(36, 20, 32, true)},
        {"gemm, dense", gpu_dense(5, 40, 64)},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// Layers of real networks have a valid point without tuning, for every GPU of the table.
  void fallback_points() {
    const std::string problem = problem_of_fallbacks(kName, {layer(3, 64, 224, 7, 2), layer(2048, 512, 7, 1, 1)});
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// 2049 ones and 2048 times minus one in half, summed up by two blocks: the first part is no half.
  void parts_of_sums_of_halves_are_floats() {
    constexpr int64_t kTerms = 4128;
    const te::DagPtr dag = dag_of([](Net& n) {
      const int x = n.input({16, kTerms}, kFloat16), w = n.weight({16, kTerms}, kFloat16);
      return n.op("dense", {x, w});
    });
    const space::Template& t = gpu_template(dag, "gemm.cuda");
    const space::ConfigEntity e = space::point_with(
        t.space(*dag, a100()), {{"channel_threads", 8}, {"channels", 2}, {"pixel_threads", 8}, {"pixels", 2}, {"depth", 16}, {"parts", 2}, {"arrays", 1}});
    QVERIFY(e.index() >= 0);
    const auto func = lower::lower_and_optimize(t.apply(dag, a100(), e).value(), "kernel", a100());
    QVERIFY2(func, func ? "" : func.error().text().c_str());
    std::vector<HostArray> args;
    for (const Dims& shape : {Dims{16, kTerms}, Dims{kTerms, 16}, Dims{16, 16}}) args.push_back(HostArray::make(kFloat16, shape));
    for (int64_t k = 0; k < 16 * kTerms; ++k) {
      const int64_t term = k / 16;  // the weights lie with their channels innermost
      args[0].set(k, 1);
      args[1].set(k, term < 2049 ? 1 : term >= kTerms / 2 && term < kTerms / 2 + 2048 ? -1 : 0);
    }
    const auto ran = tir::interpret(*func, args);
    QVERIFY2(ran, ran ? "" : ran.error().text().c_str());
    for (int64_t k = 0; k < 256; ++k) QCOMPARE(args.back().get(k), 1.0);
  }
};

QTEST_APPLESS_MAIN(CudaGemmTest)
#include "engine/space/templates/cuda/gemm_test.moc"
