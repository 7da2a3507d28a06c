// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Points of the templates of convolutions to few channels, along one to three dimensions, against the interpreter.
class NarrowConvTest : public QObject {
  Q_OBJECT

  static const space::Template& narrow() { return template_named("narrow_conv2d.cpu"); }
  static std::vector<TemplateCase> cases() {
    return {
        {"narrow_conv2d.cpu",
         {"three channels, tails",
          [](Net& n) {
            return n.op("tanh", {conv(n, {1, 32, 6, 11}, {3, 32, 3, 3}, 1, 1)});
          }}},
        {"narrow_conv2d.cpu",
         {"one channel, strided, batch",
          [](Net& n) {
            return conv(n, {2, 32, 9, 9}, {1, 32, 5, 5}, 2, 2);
          }}},
        {"narrow_conv2d.cpu",
         {"the last vector of channels in part",
          [](Net& n) {
            return n.op("relu", {conv(n, {1, 57, 7, 9}, {3, 57, 5, 5}, 1, 2)});
          }}},
        {"narrow_conv2d.cpu",
         {"a window that is not written out",
          [](Net& n) {
            return conv(n, {1, 32, 10, 12}, {3, 32, 9, 9}, 1, 4);
          }}},
        {"narrow_conv2d.cpu",
         {"short sums of eight columns at a time",
          [](Net& n) {
            return n.op("sigmoid", {conv(n, {1, 21, 5, 24}, {1, 21, 1, 1}, 1, 0)});
          }}},
        {"narrow_conv2d.cpu",
         {"half vectors of channels",
          [](Net& n) {
            return conv(n, {1, 8, 6, 19}, {1, 8, 3, 3}, 1, 1);
          }}},
        {"narrow_conv2d.cpu",
         {"part of half a vector of channels, a batch",
          [](Net& n) {
            return n.op("tanh", {conv(n, {3, 5, 4, 13}, {3, 5, 3, 3}, 1, 1)});
          }}},
        {"narrow_conv1d.cpu",
         {"lines of few channels in a batch",
          [](Net& n) {
            return conv(n, {2, 6, 23}, {1, 6, 3}, 1, 1, 1, "conv1d");
          }}},
        {"narrow_conv3d.cpu",
         {"volumes of few channels in a batch",
          [](Net& n) {
            return n.op("sigmoid", {conv(n, {2, 9, 3, 2, 17}, {1, 9, 1, 1, 1}, 1, 0, 1, "conv3d")});
          }}},
        {"narrow_conv1d.cpu",
         {"a line to three channels",
          [](Net& n) {
            return n.op("tanh", {conv(n, {1, 64, 21}, {3, 64, 7}, 1, 3, 1, "conv1d")});
          }}},
        {"narrow_conv3d.cpu",
         {"a volume to three channels",
          [](Net& n) {
            return conv(n, {1, 32, 3, 4, 5}, {3, 32, 3, 3, 3}, 1, 1, 1, "conv3d");
          }}},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(cases(), 8);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  void leavesWideSumsAlone() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    const auto matches = [&](Dims x, Dims w) { return narrow().matches(*dag_of([&](Net& n) { return conv(n, x, w, 1, 0); }), target); };
    QVERIFY(!matches({1, 64, 8, 8}, {16, 64, 3, 3}));
    QVERIFY(!matches({1, 64, 8, 8}, {8, 64, 1, 1}));  // adding up the lanes would take longer than the rest
    QVERIFY(!matches({1, 3, 8, 8}, {3, 3, 5, 5}));    // an image in planes
    QVERIFY(matches({1, 64, 8, 8}, {3, 64, 1, 1}));
    QVERIFY(matches({1, 64, 8, 8}, {4, 64, 3, 3}));
  }
  /// Among rows those that loops over lines compute faster stay in them.
  void shortSumsAmongRows() {
    const Target target = parse_target("llvm -mcpu=znver5 -num-cores=1").value();
    const auto in_rows = [&](Dims x, Dims w) {
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, x, w, 1, 0); });
      return narrow().matches(*dag, target) && narrow().rows_suit(*dag, target);
    };
    QVERIFY(in_rows({1, 64, 112, 112}, {1, 64, 1, 1}));
    QVERIFY(in_rows({1, 16, 112, 112}, {3, 16, 3, 3}));
    QVERIFY(!in_rows({1, 64, 56, 56}, {1, 64, 3, 3}));
    for (const auto& [tag, x, w] : {std::tuple("conv1d", Dims{1, 32, 4096}, Dims{1, 32, 1}), std::tuple("conv3d", Dims{1, 32, 8, 8, 64}, Dims{1, 32, 1, 1, 1})}) {
      const te::DagPtr dag = dag_of([&](Net& n) { return conv(n, x, w, 1, 0, 1, tag); });
      const space::Template& t = template_named(std::string("narrow_") + tag + ".cpu");
      QVERIFY(t.matches(*dag, target) && t.rows_suit(*dag, target));
    }
  }
};

QTEST_APPLESS_MAIN(NarrowConvTest)
#include "engine/space/templates/cpu/narrow_conv_test.moc"
