// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

class RowsTest : public QObject {
  Q_OBJECT

  /// Of the channels of each pixel.
  static Make softmax(Dims shape) {
    return [=](Net& n) { return n.op("softmax", {n.input(shape)}, {{"axis", int64_t{1}}}); };
  }
  static Target with_caches(int64_t bytes) {
    Target t = parse_target("llvm -mcpu=znver4 -num-cores=1").value();
    t.l2_bytes = t.l3_share_bytes = bytes;
    return t;
  }
  /// Vectors of a row of results that go through all stages together.
  static int64_t together(const Dims& shape, int64_t cache_bytes) {
    const schedule::Schedule s = space::default_schedule(dag_of(softmax(shape)), with_caches(cache_bytes));
    const auto& iters = s.stages().back().iters;
    return iters[iters.size() - 2].extent;
  }

 private Q_SLOTS:
  /// A few columns at a time stay in the nearest cache; where no cache keeps the results more of them are written at once.
  void moreColumnsWhereNoCacheKeepsTheResults() {
    QVERIFY(together({1, 8, 40, 320}, 1 << 20) < 10);
    QCOMPARE(together({1, 8, 40, 320}, 1 << 16), int64_t{10});
    QVERIFY(together({1, 80, 4, 320}, 1 << 16) < 10);  // nor what is between the stages
  }
  void keepsResults() {
    const std::string problem = problem_by_rule({"softmax of channels", softmax({1, 5, 7, 37})});
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(RowsTest)
#include "rows_test.moc"
