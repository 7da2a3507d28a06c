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
  /// What has no loops of its own, such as the sum of everything, can be bound.
  void no_loops_make_one_of_one_iteration() {
    const schedule::Schedule s = schedule::Schedule(matrix_product()).apply(schedule::FuseStep{2, {}}).value();
    QCOMPARE(s.stages()[2].iters.size(), size_t{4});
    QCOMPARE(s.stages()[2].iters[0].extent, int64_t{1});
    QCOMPARE(tir::print(lower::lower(s, "f").value()), tir::print(lower::lower(schedule::Schedule(matrix_product()), "f").value()));
  }
  void refusals() {
    const schedule::Schedule s(matrix_product());
    QVERIFY(has(s.apply(schedule::FuseStep{2, {0, 2}}).error().text(), "Expected adjacent loops of stage 'c' for 'fuse', found index 2"));
    QVERIFY(has(s.apply(schedule::FuseStep{2, {1, 2}}).error().text(), "Expected loops of one kind without annotation for 'fuse', found 'r0' of stage 'c'"));
    Builder between(row_sums());
    const auto pieces = between.split(2, between.loops(2)[0], {3});
    between.compute_at(1, 2, pieces[0]);
    between.fuse(2, {pieces[0], pieces[1]});
    QVERIFY(has(refusal(std::move(between)), "Expected stages to be computed in the last loop for 'fuse' alone, found 'row_sum' in 'i_0' of 'relu'"));
  }
};

QTEST_APPLESS_MAIN(FuseTest)
#include "fuse_test.moc"
