// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaInjectiveTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "injective.cuda";
  static GpuCases cases() {
    return {
        {"elements, half", gpu_op("sigmoid", {3, 8, 20}, {}, "relu", kFloat16)},
        {"elements", gpu_op("sigmoid", {3, 8, 20}, {}, "relu")},
        {"elements, odd", gpu_op("relu", {3, 7, 5})},
        {"transpose", gpu_op("transpose", {40, 70}, {{"perm", Dims{1, 0}}})},
        {"transpose of heads", gpu_op("transpose", {2, 36, 3, 20}, {{"perm", Dims{0, 2, 3, 1}}}, "relu")},
        {"transpose of blocks", gpu_op("transpose", {2, 36, 3, 20}, {{"perm", Dims{0, 2, 1, 3}}})},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  void one_launch() {
    for (const GpuCase& c : cases()) {
      const std::string problem = problem_of_one_launch(c);
      QVERIFY2(problem.empty(), (c.name + (": " + problem)).c_str());
    }
  }
};

QTEST_APPLESS_MAIN(CudaInjectiveTest)
#include "engine/space/templates/cuda/injective_test.moc"
