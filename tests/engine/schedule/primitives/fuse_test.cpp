// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class FuseTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void one_loop_runs_over_the_product() {
    Builder b(matrix_product());
    const ir::Var all = b.fuse(2, {b.loops(2)[0], b.loops(2)[1]});
    QCOMPARE(b.at(2).iters.size(), size_t{2});
    QCOMPARE(b.at(2).iters[0].extent, int64_t{120});
    b.parallel(2, all);
    QVERIFY(has(optimized(std::move(b)), "T.parallel(120)"));
  }
  void refusals() {
    const schedule::Schedule s(matrix_product());
    QVERIFY(has(s.apply(schedule::FuseStep{2, {}}).error().text(), "Expected at least one loop for 'fuse', found none"));
    QVERIFY(has(s.apply(schedule::FuseStep{2, {0, 2}}).error().text(), "Expected adjacent loops of stage 'c' for 'fuse', found index 2"));
    QVERIFY(has(s.apply(schedule::FuseStep{2, {1, 2}}).error().text(), "Expected loops of one kind without annotation for 'fuse', found 'r0' of stage 'c'"));
  }
};

QTEST_APPLESS_MAIN(FuseTest)
#include "fuse_test.moc"
