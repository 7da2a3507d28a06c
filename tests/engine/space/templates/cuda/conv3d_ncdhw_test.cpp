// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaConv3dNcdhwTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "conv3d_ncdhw.cuda";
  static GpuCases cases() {
    return {
        {"volumes", gpu_conv({1, 3, 4, 5, 6}, {4, 3, 3, 3, 3}, 1, 1, 1, "conv3d")},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(CudaConv3dNcdhwTest)
#include "engine/space/templates/cuda/conv3d_ncdhw_test.moc"
