// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaConv2dNhwcTensorcoreTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "conv2d_nhwc_tensorcore.cuda";
  static GpuCases cases() {
    return {
        {"tensor cores, channels last", gpu_channels_last({1, 6, 9, 16}, {3, 3, 16, 24}, 1, 1, kFloat16)},
        {"tensor cores, channels last, odd", gpu_channels_last({2, 7, 7, 10}, {3, 2, 10, 9}, 2, 0, kFloat16)},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(CudaConv2dNhwcTensorcoreTest)
#include "engine/space/templates/cuda/conv2d_nhwc_tensorcore_test.moc"
