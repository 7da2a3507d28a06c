// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/space/templates/templates.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Points of the template of depthwise convolutions against the interpreter.
class DepthwiseConv2dNchwcTest : public QObject {
  Q_OBJECT

  static std::function<int(Net&)> depthwise(Dims x, int64_t kernel, int64_t stride, int64_t pad) {
    return [=](Net& n) { return n.op("relu", {conv(n, x, {x[1], 1, kernel, kernel}, stride, pad, x[1])}); };
  }
  static std::vector<Case> cases() {
    return {{"two blocks", depthwise({1, 32, 9, 11}, 3, 1, 1)},
            {"strided", depthwise({1, 48, 10, 9}, 3, 2, 1)},
            {"5x5, the last block in part", depthwise({1, 37, 8, 7}, 5, 1, 2)},
            {"no padding", depthwise({1, 16, 7, 8}, 3, 1, 0)},
            {"two images", depthwise({2, 24, 6, 7}, 3, 1, 1)}};
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(space::cpu::depthwise_conv2d_nchwc(), cases(), 12);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// By rule cores share blocks of channels as long as they keep all busy, else the rows of an image; never rows of several images.
  void rowsWhereBlocksAreTooFew() {
    const auto shared = [](Dims x, int cores) -> std::string {
      const Target target = parse_target("llvm -mcpu=znver4 -num-cores=" + std::to_string(cores)).value();
      const te::DagPtr dag = dag_of(depthwise(x, 3, 1, 1));
      const space::ConfigEntity e = space::find_template(*dag, target)->fallback(*dag, target);
      return e.json_text().find("parallel_rows") == std::string::npos ? "no choice" : e.integer("parallel_rows") != 0 ? "rows" : "blocks";
    };
    QCOMPARE(shared({1, 32, 112, 112}, 1), "no choice");
    QCOMPARE(shared({1, 32, 112, 112}, 2), "blocks");
    QCOMPARE(shared({1, 32, 112, 112}, 8), "rows");
    QCOMPARE(shared({1, 960, 7, 7}, 16), "blocks");
    QCOMPARE(shared({2, 32, 112, 112}, 8), "no choice");
    QCOMPARE(shared({1, 32, 16, 65536}, 8), "blocks");  // a row's neighbours would leave the second cache
  }
};

QTEST_APPLESS_MAIN(DepthwiseConv2dNchwcTest)
#include "depthwise_conv2d_nchwc_test.moc"
