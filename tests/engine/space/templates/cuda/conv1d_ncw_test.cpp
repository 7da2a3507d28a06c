// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaConv1dNcwTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "conv1d_ncw.cuda";
  static GpuCases cases() {
    return {
        {"a line", gpu_conv({2, 12, 20}, {10, 12, 3}, 1, 1, 1, "conv1d")},
        {"a line, stride", gpu_conv({1, 6, 21}, {8, 6, 5}, 2, 2, 1, "conv1d", true)},
        {"a line, half", gpu_conv16("conv1d", {2, 12, 20}, {10, 12, 3})},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// 64 channels and 128 columns in four factors, 64 channels in three, times 3 * 2.
  void size() { QCOMPARE(size_of(gpu_conv({1, 64, 128}, {64, 64, 3}, 1, 1, 1, "conv1d"), kName), int64_t{84} * 120 * 28 * 6); }
};

QTEST_APPLESS_MAIN(CudaConv1dNcwTest)
#include "engine/space/templates/cuda/conv1d_ncw_test.moc"
