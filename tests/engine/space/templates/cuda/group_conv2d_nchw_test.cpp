// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaGroupConv2dNchwTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "group_conv2d_nchw.cuda";
  static GpuCases cases() {
    return {
        {"groups", gpu_conv({1, 12, 8, 8}, {24, 4, 3, 3}, 1, 1, 3)},
        {"groups, stride, two images", gpu_conv({2, 8, 9, 9}, {12, 4, 3, 3}, 2, 1, 2, "conv2d", true)},
        {"groups, half", gpu_conv16("conv2d", {1, 8, 6, 6}, {12, 4, 3, 3}, 2)},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// Factors of 32 groups, 4 channels, 56 rows, 56 columns, 4 input channels and 3 taps in two directions, times 3 * 2 * 2.
  void size() { QCOMPARE(size_of(gpu_conv({1, 128, 56, 56}, {128, 4, 3, 3}, 1, 1, 32), kName), int64_t{6} * 10 * 80 * 80 * 3 * 2 * 2 * 12); }
};

QTEST_APPLESS_MAIN(CudaGroupConv2dNchwTest)
#include "engine/space/templates/cuda/group_conv2d_nchw_test.moc"
