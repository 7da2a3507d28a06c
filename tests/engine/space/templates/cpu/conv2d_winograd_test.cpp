// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Winograd's convolution against the interpreter of the direct one.
class Conv2dWinogradTest : public QObject {
  Q_OBJECT

  static const space::Template& winograd() { return template_named("conv2d_winograd.cpu"); }
  static std::vector<Case> cases() {
    return {
        {"whole tiles",
         [](Net& n) {
           return conv(n, {1, 16, 8, 8}, {16, 16, 3, 3}, 1, 1);
         }},
        {"rows and columns left over",
         [](Net& n) {
           return conv(n, {1, 32, 9, 11}, {48, 32, 3, 3}, 1, 1);
         }},
        {"no padding, narrow channels, batch",
         [](Net& n) {
           return n.op("relu", {conv(n, {2, 8, 10, 7}, {24, 8, 3, 3}, 1, 0)});
         }},
        {"bias and residual",
         [](Net& n) {
           const int x = n.input({1, 32, 7, 7}), y = n.op("conv2d", {x, n.weight({32, 32, 3, 3}), n.weight({32})}, {{"pads", Dims{1, 1, 1, 1}}});
           return n.op("relu", {n.op("add", {y, n.input({1, 32, 7, 7})})});
         }},
        {"last blocks in part",
         [](Net& n) {
           const int x = n.input({1, 37, 6, 7}), y = n.op("conv2d", {x, n.weight({58, 37, 3, 3}), n.weight({58})}, {{"pads", Dims{1, 1, 1, 1}}});
           return n.op("relu", {n.op("add", {y, n.input({1, 58, 6, 7})})});
         }},
        {"last blocks in part, no padding",
         [](Net& n) {
           return conv(n, {1, 23, 10, 6}, {11, 23, 3, 3}, 1, 0);
         }},
        {"panels of weights in part",
         [](Net& n) {
           return conv(n, {1, 16, 8, 6}, {112, 16, 3, 3}, 1, 1);
         }},
        {"uneven padding",
         [](Net& n) {
           return n.op("conv2d", {n.input({1, 16, 6, 13}), n.weight({16, 16, 3, 3})}, {{"pads", Dims{0, 2, 1, 0}}});
         }},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(winograd(), cases(), 8);
    QVERIFY2(problem.empty(), problem.c_str());
  }

  void leavesOtherConvolutionsAlone() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    for (const Make& make :
         std::initializer_list<Make>{[](Net& n) {
                                       return conv(n, {1, 32, 9, 9}, {32, 32, 3, 3}, 2, 1);
                                     },
                                     [](Net& n) {
                                       return conv(n, {1, 32, 9, 9}, {32, 32, 1, 1}, 1, 0);
                                     },
                                     [](Net& n) {
                                       return conv(n, {1, 32, 9, 9}, {32, 16, 3, 3}, 1, 1, 2);
                                     },
                                     [](Net& n) {
                                       return conv(n, {1, 32, 9, 9}, {32, 1, 3, 3}, 1, 1, 32);
                                     },
                                     [](Net& n) {
                                       return conv(n, {1, 3, 9, 9}, {32, 3, 3, 3}, 1, 1);
                                     },
                                     [](Net& n) {
                                       return n.op("conv2d", {n.input({1, 32, 9, 9}), n.weight({32, 32, 3, 3})}, {{"dilations", Dims{2, 2}}});
                                     },
                                     [](Net& n) {
                                       return n.op("conv2d", {n.input({1, 32, 9, 9}), n.input({32, 32, 3, 3})});
                                     }})
      QVERIFY(!winograd().matches(*dag_of(make), target));
  }

  /// Both algorithms are offered; by rule it is Winograd's, but for very few channels and small images.
  void competesWithDirectConvolution() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    const auto uses_winograd = [&](Dims x, Dims w) {
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, x, w, 1, 1); });
      if (space::alternatives(*dag, target).size() < 2) qFatal("expected both");
      const schedule::Schedule s = space::default_schedule(dag, target);
      for (const schedule::Step& step : s.steps())
        if (std::holds_alternative<schedule::WinogradStep>(step)) return true;
      return false;
    };
    QVERIFY(uses_winograd({1, 64, 56, 56}, {64, 64, 3, 3}));
    QVERIFY(uses_winograd({1, 512, 7, 7}, {512, 512, 3, 3}));
    QVERIFY(uses_winograd({1, 20, 28, 28}, {24, 20, 3, 3}));
    QVERIFY(!uses_winograd({1, 7, 56, 56}, {64, 7, 3, 3}));
    QVERIFY(!uses_winograd({1, 64, 56, 56}, {7, 64, 3, 3}));
    QVERIFY(!uses_winograd({1, 64, 4, 4}, {64, 64, 3, 3}));
  }
  /// Where what lies between the stages exceeds the level-2 cache, unless it costs less to move it than to read the weights, which then do not fit, for every block.
  void passesInBlocks() {
    const Target target = parse_target("llvm -mcpu=sapphirerapids -num-cores=1").value();
    const auto in_blocks = [&](Dims x, Dims w) {
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, x, w, 1, 1); });
      return winograd().fallback(*dag, target).integer("block_rows") != 0;
    };
    QVERIFY(!in_blocks({1, 64, 14, 14}, {64, 64, 3, 3}));    // 0.3 of 2 MB
    QVERIFY(in_blocks({1, 64, 56, 56}, {64, 64, 3, 3}));     // 0.6 MB of weights
    QVERIFY(in_blocks({1, 96, 112, 112}, {96, 96, 3, 3}));   // 1.3 MB, read 28 times, against 22
    QVERIFY(!in_blocks({1, 128, 56, 56}, {96, 128, 3, 3}));  // 1.8 MB, read 14 times, against 6
    QVERIFY(!in_blocks({1, 464, 28, 28}, {20, 464, 3, 3}));  // 2.1 MB, as 20 channels take what 32 do
  }
};

QTEST_APPLESS_MAIN(Conv2dWinogradTest)
#include "engine/space/templates/cpu/conv2d_winograd_test.moc"
