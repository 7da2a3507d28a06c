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
  void keepsResults_data() {
    QTest::addColumn<int>("rows");
    for (const int rows : {37, 64, 107}) QTest::addRow("%d", rows) << rows;
  }
  void keepsResults() {
    QFETCH(const int, rows);
    const std::string problem = problem_by_rule({"turned", turned({192, rows})});
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(ElementwiseTest)
#include "elementwise_test.moc"
