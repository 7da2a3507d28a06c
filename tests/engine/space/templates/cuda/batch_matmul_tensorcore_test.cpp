// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaBatchMatmulTensorcoreTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "batch_matmul_tensorcore.cuda";
  static GpuCases cases() {
    return {
        {"product, half", gpu_product16({3, 32, 48}, {3, 48, 64})},
        {"product, half, shared heads", gpu_product16({2, 2, 16, 32}, {1, 2, 32, 16})},
        {"product of two matrices, half", gpu_product16({64, 64}, {64, 128})},
        {"product, TF32", gpu_product(2, 32, 16, 32), "cuda:a100,tf32"},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(CudaBatchMatmulTensorcoreTest)
#include "engine/space/templates/cuda/batch_matmul_tensorcore_test.moc"
