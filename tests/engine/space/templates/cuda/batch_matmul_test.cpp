// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaBatchMatmulTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "batch_matmul.cuda";
  static GpuCases cases() {
    return {
        {"product", gpu_product(2, 12, 16, 24)},
        {"product, odd, half", gpu_product16({2, 12, 24}, {2, 24, 20})},
        {"product, heads", gpu_attention({1, 3, 12, 8}, {1, 3, 8, 10})},
        {"product, shared heads", gpu_attention({2, 4, 6, 8}, {2, 1, 8, 6})},
        {"product of two matrices", gpu_attention({12, 20}, {20, 8})},
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
    const std::string problem = problem_of_fallbacks(kName, {gpu_product(12, 128, 128, 64)});
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// BERT with 128 words, as AutoTVM counts it.
  void size() { QCOMPARE(size_of(gpu_product(12, 128, 128, 64), kName), 72576); }
  void halves_are_fetched_in_vectors() {
    const std::string problem = problem_of_fetched_halves(gpu_product16({8, 128, 256}, {8, 256, 128}));
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(CudaBatchMatmulTest)
#include "engine/space/templates/cuda/batch_matmul_test.moc"
