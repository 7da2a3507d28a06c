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
  void leavesWideAndShortSumsAlone() {
    const Target target = parse_target("llvm -mcpu=znver4").value();
    QVERIFY(!narrow().matches(*dag_of([](Net& n) { return conv(n, {1, 64, 8, 8}, {16, 64, 3, 3}, 1, 1); }), target));
    QVERIFY(!narrow().matches(*dag_of([](Net& n) { return conv(n, {1, 64, 8, 8}, {3, 64, 1, 1}, 1, 0); }), target));
    QVERIFY(!narrow().matches(*dag_of([](Net& n) { return conv(n, {1, 20, 8, 8}, {3, 20, 5, 5}, 1, 2); }), target));
  }
};

QTEST_APPLESS_MAIN(NarrowConvTest)
#include "engine/space/templates/cpu/narrow_conv_test.moc"
