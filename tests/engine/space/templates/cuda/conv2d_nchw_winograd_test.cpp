// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaConv2dNchwWinogradTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "conv2d_nchw_winograd.cuda";
  static GpuCases cases() {
    return {
        {"Winograd, relu", gpu_conv({1, 6, 8, 8}, {8, 6, 3, 3}, 1, 1, 1, "conv2d", true)},
        {"Winograd, odd images", gpu_conv({2, 4, 7, 9}, {6, 4, 3, 3}, 1, 0)},
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
    const std::string problem = problem_of_fallbacks(kName, {layer(64, 64, 56, 3, 1)});
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// ResNet-50 at batch 1, as AutoTVM counts it.
  void sizes() {
    const auto size = [](int64_t channels, int64_t hw) { return size_of(layer(channels, channels, hw, 3, 1), kName); };
    QCOMPARE(size(64, 56), 352800);
    QCOMPARE(size(128, 28), 576000);
    QCOMPARE(size(256, 14), 89100);
    QCOMPARE(size(512, 7), 462000);
  }
};

QTEST_APPLESS_MAIN(CudaConv2dNchwWinogradTest)
#include "engine/space/templates/cuda/conv2d_nchw_winograd_test.moc"
