// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaConv2dNhwcTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "conv2d_nhwc.gpu";
  static GpuCases cases() {
    return {
        {"channels last", gpu_channels_last({1, 6, 9, 16}, {3, 3, 16, 24}, 1, 1)},
        {"channels last, odd", gpu_channels_last({2, 7, 7, 10}, {3, 2, 10, 7}, 2, 0)},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// As AutoTVM counts it.
  void size() { QCOMPARE(size_of(gpu_channels_last({1, 56, 56, 64}, {3, 3, 64, 64}, 1, 1), kName), 5184); }
};

QTEST_APPLESS_MAIN(CudaConv2dNhwcTest)
#include "engine/space/templates/cuda/conv2d_nhwc_test.moc"
