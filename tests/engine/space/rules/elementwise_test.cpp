// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

class ElementwiseTest : public QObject {
  Q_OBJECT

  static Make turned(Dims shape) {
    return [=](Net& n) { return n.op("transpose", {n.input(shape)}, {{"perm", Dims{1, 0}}}); };
  }
  /// Rows of the operand over their norms, turned.
  static Make divided(Dims shape) {
    return [=](Net& n) {
      const int norms = n.op("sqrt", {n.input({1, shape[1]})});
      return n.op("transpose", {n.op("div", {n.input(shape), norms})}, {{"perm", Dims{1, 0}}});
    };
  }
  /// What a detector says of each place: 21 numbers for each of its anchors.
  static Make detected(int64_t anchors) {
    return [=](Net& n) {
      const int apart = n.op("reshape", {n.input({1, anchors * 21, 40, 6})}, {{"shape", Dims{1, anchors, 21, 40, 6}}});
      return n.op("sigmoid", {n.op("transpose", {apart}, {{"perm", Dims{0, 1, 3, 4, 2}}})});
    };
  }

 private Q_SLOTS:
  /// Blocks of a transpose that are handled together, up to four each way as either extent has room for them, whatever the other has.
  void tilesOfBlocks() {
    using Tile = std::pair<int64_t, int64_t>;  // of rows and of columns of the result
    const auto tile = [](int64_t rows, int64_t columns) {
      const Target target = parse_target("llvm -mcpu=znver5 -num-cores=1").value();
      const schedule::Schedule s = space::default_schedule(dag_of(turned({columns, rows})), target);
      const auto& iters = s.stages().back().iters;  // outer rows, rows, columns, and a block's
      return Tile(iters[iters.size() - 4].extent, iters[iters.size() - 3].extent);
    };
    QCOMPARE(tile(128, 4096), Tile(4, 4));
    QCOMPARE(tile(107, 4096), Tile(1, 4));
    QCOMPARE(tile(128, 107), Tile(4, 1));
    QCOMPARE(tile(107, 109), Tile(1, 1));
  }
  /// With a small stage beside it blocks are turned all the same, where that stage's values of one row would have gone to its elements one by one.
  void smallStagesBesideATranspose() {
    const Target target = parse_target("llvm -mcpu=znver5 -num-cores=1").value();
    const schedule::Schedule s = space::default_schedule(dag_of(divided({48, 1024})), target);
    QVERIFY(std::none_of(s.stages().begin(), s.stages().end(), [](const schedule::Stage& st) { return st.location == schedule::ComputeLocation::at; }));
    const auto& iters = s.stages().back().iters;
    QCOMPARE(iters.back().extent, int64_t{16});
    QCOMPARE(iters[iters.size() - 2].extent, int64_t{16});
  }
  /// Where each anchor's numbers begin in a block of channels is known if few anchors are written out.
  void placesInBlocks() {
    const Target target = parse_target("llvm -mcpu=znver5 -num-cores=1").value();
    for (const int64_t anchors : {3, 5}) {
      const std::string steps = schedule::print_steps(space::rule_schedule(dag_of(detected(anchors)), target, {in_blocks(0, 4, 16)}).value());
      QCOMPARE(steps.find("unroll") != std::string::npos, anchors == 3);
      // Channels last, which is a layout without blocks, beside them.
      for (const schedule::LayoutStep& layout : {in_blocks(0, 4, 16), schedule::LayoutStep{0, {{0, 0}, {2, 0}, {3, 0}, {1, 0}}}}) {
        const std::string problem = problem_by_rule({"detected", detected(anchors), {layout}});
        QVERIFY2(problem.empty(), problem.c_str());
      }
    }
  }
  void keepsResults_data() {
    QTest::addColumn<int>("rows");
    for (const int rows : {37, 64, 107}) QTest::addRow("%d", rows) << rows;
  }
  void keepsResults() {
    QFETCH(const int, rows);
    for (const auto& [name, make] : {std::pair("turned", turned({192, rows})), std::pair("divided", divided({192, rows}))}) {
      const std::string problem = problem_by_rule({name, make});
      QVERIFY2(problem.empty(), problem.c_str());
    }
  }
};

QTEST_APPLESS_MAIN(ElementwiseTest)
#include "elementwise_test.moc"
