// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaDepthwiseConv2dNchwTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "depthwise_conv2d_nchw.cuda";
  static GpuCases cases() {
    return {
        {"depthwise", gpu_conv({1, 12, 8, 8}, {12, 1, 3, 3}, 1, 1, 12)},
        {"depthwise, stride, relu", gpu_conv({1, 6, 9, 9}, {6, 1, 3, 3}, 2, 1, 6, "conv2d", true)},
        {"depthwise, bfloat", gpu_conv16("conv2d", {1, 12, 8, 8}, {12, 1, 3, 3}, 12, kBFloat16)},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(CudaDepthwiseConv2dNchwTest)
#include "engine/space/templates/cuda/depthwise_conv2d_nchw_test.moc"
