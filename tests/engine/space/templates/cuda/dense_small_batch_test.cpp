// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaDenseSmallBatchTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "dense_small_batch.gpu";
  static GpuCases cases() {
    return {
        {"dense, one row", gpu_dense(1, 20, 96)},
        {"dense, a few rows, fused", gpu_dense(3, 10, 60, true)},
        {"dense, one row, half", gpu_dense16(1, 20, 96)},
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
    const std::string problem = problem_of_fallbacks(kName, {gpu_dense(1, 1000, 2048)});
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// As AutoTVM counts it.
  void size() { QCOMPARE(size_of(gpu_dense(1, 1000, 2048), kName), 12); }
};

QTEST_APPLESS_MAIN(CudaDenseSmallBatchTest)
#include "engine/space/templates/cuda/dense_small_batch_test.moc"
