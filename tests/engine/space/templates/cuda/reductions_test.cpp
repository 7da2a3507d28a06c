// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaReductionsTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "reductions.cuda";
  static GpuCases cases() {
    return {
        {"softmax, half", gpu_op("softmax", {3, 8, 64}, {}, nullptr, kFloat16)},
        {"maxima of windows, half",
         gpu_op("max_pool2d", {2, 5, 9, 9}, {{"kernel", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}}, "relu", kFloat16)},
        {"softmax", gpu_op("softmax", {3, 8, 50})},
        {"softmax, few", gpu_op("softmax", {1, 10})},
        {"softmax, long rows", gpu_op("softmax", {3, 1200})},
        {"softmax over channels", gpu_op("softmax", {2, 6, 5, 7}, {{"axis", int64_t{1}}})},
        {"softmax over many channels", gpu_op("softmax", {2, 40, 5, 3}, {{"axis", int64_t{1}}})},
        {"log softmax", gpu_op("log_softmax", {6, 33})},
        {"layer norm", gpu_norm("layer_norm", {4, 6, 96})},
        {"RMS norm", gpu_norm("rms_norm", {12, 40})},
        {"sums of rows", gpu_op("reduce_sum", {6, 70}, {{"axes", Dims{1}}}, "relu")},
        {"sums of columns", gpu_op("reduce_sum", {70, 6}, {{"axes", Dims{0}}}, "relu")},
        {"means of images", gpu_op("reduce_mean", {2, 10, 7, 7}, {{"axes", Dims{2, 3}}})},
        {"maxima of windows", gpu_op("max_pool2d", {2, 5, 9, 9}, {{"kernel", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}}, "relu")},
        {"means of windows", gpu_op("avg_pool2d", {1, 4, 8, 9}, {{"kernel", Dims{3, 3}}, {"strides", Dims{1, 1}}, {"pads", Dims{1, 1, 1, 1}}})},
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

QTEST_APPLESS_MAIN(CudaReductionsTest)
#include "engine/space/templates/cuda/reductions_test.moc"
