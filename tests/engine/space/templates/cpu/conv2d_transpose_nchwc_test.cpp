// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Points of the template against the interpreter; that its definition is that of a transposed convolution is ONNX's cases' to show.
class Conv2dTransposeNchwcTest : public QObject {
  Q_OBJECT

  static std::vector<Case> cases() {
    const auto transposed = [](Net& n, Dims x, Dims w, Values attrs) {
      return n.op("conv2d_transpose", {n.input(std::move(x)), n.weight(w)}, std::move(attrs));
    };
    return {
        {"stride 2, window of 4",
         [=](Net& n) {
           return n.op("relu", {transposed(n, {1, 32, 5, 6}, {32, 48, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})});
         }},
        {"stride 2, window of 3",
         [=](Net& n) {
           return transposed(n, {2, 16, 7, 5}, {16, 24, 3, 3}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
         }},
        {"stride 3, window of 2",
         [=](Net& n) {
           return transposed(n, {1, 5, 4, 4}, {5, 16, 2, 2}, {{"strides", Dims{3, 3}}});
         }},
        {"last blocks in part",
         [=](Net& n) {
           return n.op("relu", {transposed(n, {1, 21, 5, 4}, {21, 29, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})});
         }},
        {"panels of weights in part",
         [=](Net& n) {
           return transposed(n, {1, 8, 3, 4}, {8, 112, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
         }},
        {"stride 1, one pixel",
         [=](Net& n) {
           return transposed(n, {1, 20, 1, 1}, {20, 32, 4, 4}, {});
         }},
        {"output padding, strides differ",
         [=](Net& n) {
           return transposed(n, {1, 8, 3, 5}, {8, 8, 3, 5}, {{"strides", Dims{2, 3}}, {"pads", Dims{1, 2, 0, 1}}, {"output_padding", Dims{1, 2}}});
         }},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(template_named("conv2d_transpose_nchwc.cpu"), cases(), 8);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  void isTheFirstOfItsTask() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    for (const Case& c : cases()) QVERIFY(space::find_template(*dag_of(c.make), target) == &template_named("conv2d_transpose_nchwc.cpu"));
  }
  /// No tap of a window meets an inserted zero: the work is that of the gather form.
  void countsNoInsertedZeros() {
    const te::DagPtr dag = dag_of([](Net& n) {
      return n.op("conv2d_transpose", {n.input({1, 64, 8, 8}), n.weight({64, 32, 4, 4})}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
    });
    QCOMPARE(te::flops(*dag), int64_t{2} * 16 * 16 * 32 * 64 * 2 * 2);
  }
};

QTEST_APPLESS_MAIN(Conv2dTransposeNchwcTest)
#include "engine/space/templates/cpu/conv2d_transpose_nchwc_test.moc"
