// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Points of the templates of depthwise convolutions along one to three dimensions, against the interpreter.
class DepthwiseConvTest : public QObject {
  Q_OBJECT

  /// Along as many dimensions as `x` has after the channels.
  static std::function<int(Net&)> depthwise(Dims x, int64_t kernel, int64_t stride, int64_t pad) {
    return [=](Net& n) {
      Dims w(x.size(), kernel);
      w[0] = x[1];
      w[1] = 1;
      return n.op("relu", {conv(n, x, w, stride, pad, x[1], "conv" + std::to_string(x.size() - 2) + "d")});
    };
  }
  /// One image slides over another, channel by channel.
  static int correlated(Net& n) { return n.op("conv2d", {n.input({1, 19, 12, 11}), n.input({19, 1, 6, 5})}, {{"groups", int64_t{19}}}); }
  static std::vector<TemplateCase> cases() {
    return {{"depthwise_conv2d_nchwc.cpu", {"computed weights", correlated}},
            {"depthwise_conv2d_nchwc.cpu", {"two blocks", depthwise({1, 32, 9, 11}, 3, 1, 1)}},
            {"depthwise_conv2d_nchwc.cpu", {"strided", depthwise({1, 48, 10, 9}, 3, 2, 1)}},
            {"depthwise_conv2d_nchwc.cpu", {"5x5, the last block in part", depthwise({1, 37, 8, 7}, 5, 1, 2)}},
            {"depthwise_conv2d_nchwc.cpu", {"no padding", depthwise({1, 16, 7, 8}, 3, 1, 0)}},
            {"depthwise_conv2d_nchwc.cpu", {"two images", depthwise({2, 24, 6, 7}, 3, 1, 1)}},
            {"depthwise_conv1d_nchwc.cpu", {"a long window along a line", depthwise({2, 32, 45}, 31, 1, 15)}},
            {"depthwise_conv1d_nchwc.cpu", {"a line that grows, the last block in part", depthwise({1, 20, 13}, 4, 1, 3)}},
            {"depthwise_conv3d_nchwc.cpu", {"a volume", depthwise({1, 32, 4, 6, 7}, 3, 1, 1)}},
            {"depthwise_conv3d_nchwc.cpu", {"a strided volume, the last block in part", depthwise({2, 27, 5, 6, 9}, 3, 2, 1)}}};
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(cases(), 12);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// Computed weights that meet few places are read where they lie.
  void computedWeights() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    const auto has = [&](int64_t size) {
      const te::DagPtr dag = dag_of([&](Net& n) { return n.op("conv2d", {n.input({1, 32, size, size}), n.input({32, 1, 5, 5})}, {{"groups", int64_t{32}}}); });
      return space::find_template(*dag, target, "depthwise_conv2d_nchwc.cpu") != nullptr;
    };
    QVERIFY(has(8) && !has(7));  // 4x4 and 3x3 places
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

QTEST_APPLESS_MAIN(DepthwiseConvTest)
#include "depthwise_conv_test.moc"
