// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using namespace tw::schedule;

class FollowFusedSplitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void by_the_product_of_a_length_of_each() {
    const std::vector<Step> splits{SplitStep{2, 1, 12, {3, 2}}, SplitStep{2, 0, 10, {5, 1}}};
    const Schedule s = Schedule::replay(matrix_product(), splits).value();  // 2 x 5 x 1 and 2 x 3 x 2, then 8
    QCOMPARE(extents(s.apply(FollowFusedSplitStep{2, 6, {0, 1}, 0}).value(), 2), (std::vector<int64_t>{2, 5, 1, 2, 3, 2, 1, 15}));
    QCOMPARE(extents(s.apply(FollowFusedSplitStep{2, 6, {0, 1}, 1}).value(), 2), (std::vector<int64_t>{2, 5, 1, 2, 3, 2, 4, 2}));
    QCOMPARE(extents(s.apply(FollowFusedSplitStep{2, 6, {0}, 1, false}).value(), 2), (std::vector<int64_t>{2, 5, 1, 2, 3, 2, 2, 4}));
  }
  void refusals() {
    const Schedule s = Schedule(matrix_product()).apply(SplitStep{2, 1, 12, {3}}).value();
    QVERIFY(has(s.apply(FollowFusedSplitStep{2, 0, {}, 0}).error().text(), "Expected at least one split for 'follow_fused_split', found none"));
    QVERIFY(has(s.apply(FollowFusedSplitStep{2, 0, {3}, 0}).error().text(), "Expected the number of an earlier split for 'follow_fused_split', found 3"));
    QVERIFY(has(s.apply(FollowFusedSplitStep{2, 0, {0}, 1}).error().text(), "Expected a length below 1 for 'follow_fused_split', found 1"));
    QVERIFY(has(s.apply(FollowFusedSplitStep{2, 5, {0}, 0}).error().text(), "Expected a loop below 4 of stage 'c' for 'follow_fused_split', found 5"));
  }
};

QTEST_APPLESS_MAIN(FollowFusedSplitTest)
#include "follow_fused_split_test.moc"
