// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Winograd's convolution over the planes of volumes against the interpreter of the direct one.
class Conv3dWinogradTest : public QObject {
  Q_OBJECT

  static const space::Template& winograd() { return template_named("conv3d_winograd.cpu"); }
  static Make volume(Dims x, Dims w, Values attrs) {
    return [=](Net& n) { return n.op("conv3d", {n.input(x), n.weight(w)}, attrs); };
  }
  static std::vector<Case> cases() {
    return {
        {"whole tiles",
         [](Net& n) {
           return conv(n, {1, 16, 3, 4, 8}, {16, 16, 3, 3, 3}, 1, 1, 1, "conv3d");
         }},
        {"rows and columns left over, bias and residual",
         [](Net& n) {
           const int x = n.input({1, 16, 2, 7, 5});
           const int y = n.op("conv3d", {x, n.weight({24, 16, 3, 3, 3}), n.weight({24})}, {{"pads", Dims(6, 1)}});
           return n.op("relu", {n.op("add", {y, n.input({1, 24, 2, 7, 5})})});
         }},
        {"last blocks in part, no padding, batch", volume({2, 9, 3, 6, 7}, {11, 9, 2, 3, 3}, {})},
        {"one plane at a time", volume({1, 16, 4, 6, 6}, {16, 16, 1, 3, 3}, {{"pads", Dims{0, 1, 1, 0, 1, 1}}})},
        {"every other plane", volume({1, 16, 5, 6, 6}, {16, 16, 3, 3, 3}, {{"strides", Dims{2, 1, 1}}, {"pads", Dims(6, 1)}})},
        {"planes apart", volume({1, 16, 5, 6, 6}, {16, 16, 3, 3, 3}, {{"dilations", Dims{2, 1, 1}}, {"pads", Dims{2, 1, 1, 2, 1, 1}}})},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(winograd(), cases(), 2);
    QVERIFY2(problem.empty(), problem.c_str());
  }

  void leavesOtherConvolutionsAlone() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    for (const Make& make : {volume({1, 16, 5, 6, 6}, {16, 16, 3, 3, 3}, {{"strides", Dims{1, 2, 1}}}),
                             volume({1, 16, 5, 6, 6}, {16, 16, 3, 3, 3}, {{"dilations", Dims{1, 1, 2}}}),
                             volume({1, 16, 5, 6, 6}, {16, 16, 3, 3, 1}, {}), volume({1, 16, 5, 6, 6}, {16, 16, 3, 1, 3}, {}),
                             volume({1, 3, 5, 6, 6}, {16, 3, 3, 3, 3}, {}), volume({1, 32, 5, 6, 6}, {32, 16, 3, 3, 3}, {{"groups", int64_t{2}}})})
      QVERIFY(!winograd().matches(*dag_of(make), target));
  }

  /// By rule it is taken but for very few channels and small planes.
  void competesWithDirectConvolution() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    const auto uses_winograd = [&](Dims x, Dims w) {
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, x, w, 1, 1, 1, "conv3d"); });
      const schedule::Schedule s = space::default_schedule(dag, target);
      return std::any_of(s.steps().begin(), s.steps().end(), [](const schedule::Step& step) { return std::holds_alternative<schedule::WinogradStep>(step); });
    };
    QVERIFY(uses_winograd({1, 64, 16, 56, 56}, {64, 64, 3, 3, 3}));
    QVERIFY(uses_winograd({1, 512, 2, 7, 7}, {512, 512, 3, 3, 3}));
    QVERIFY(uses_winograd({1, 8, 16, 28, 28}, {16, 8, 3, 3, 3}));
    QVERIFY(!uses_winograd({1, 7, 16, 56, 56}, {64, 7, 3, 3, 3}));
    QVERIFY(!uses_winograd({1, 64, 4, 4, 4}, {64, 64, 3, 3, 3}));
  }
};

QTEST_APPLESS_MAIN(Conv3dWinogradTest)
#include "engine/space/templates/cpu/conv3d_winograd_test.moc"
