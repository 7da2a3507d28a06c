// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaConv2dTransposeNchwTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "conv2d_transpose_nchw.cuda";
  static GpuCases cases() {
    return {
        {"transposed", gpu_transposed({1, 8, 5, 6}, {8, 12, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})},
        {"transposed, uneven", gpu_transposed({2, 6, 7, 5}, {6, 8, 3, 3}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})},
        {"transposed, half", gpu_conv16("conv2d_transpose", {1, 8, 5, 6}, {8, 12, 3, 3})},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(CudaConv2dTransposeNchwTest)
#include "engine/space/templates/cuda/conv2d_transpose_nchw_test.moc"
