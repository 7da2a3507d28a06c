// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using namespace tw::schedule;

class FollowSplitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void by_the_first_lengths_and_the_product_of_the_rest() {
    const Schedule s = Schedule(matrix_product()).apply(SplitStep{2, 1, 12, {3, 2, 2}}).value();
    QCOMPARE(extents(s.apply(FollowSplitStep{2, 0, 0, 2}).value(), 2), (std::vector<int64_t>{1, 3, 4, 1, 3, 2, 2, 8}));
    QCOMPARE(extents(s.apply(FollowSplitStep{2, 0, 0, 1}).value(), 2), (std::vector<int64_t>{1, 12, 1, 3, 2, 2, 8}));
    QCOMPARE(extents(s.apply(FollowSplitStep{2, 0, 0, 4}).value(), 2), (std::vector<int64_t>{1, 3, 2, 2, 1, 1, 3, 2, 2, 8}));
  }
  /// Other lengths in the split, and what follows it follows.
  void it_follows_the_lengths_that_the_split_has() {
    for (const int64_t length : {2, 4}) {
      const Schedule s = Schedule::replay(matrix_product(), {SplitStep{2, 1, 12, {length}}, FollowSplitStep{2, 0, 0, 1}}).value();
      QCOMPARE(s.stages()[2].iters[1].extent, length);
    }
  }
  void refusals() {
    const Schedule s = Schedule::replay(matrix_product(), {SplitStep{2, 1, 12, {3}}, ReorderStep{2, {0, 1, 2, 3}}}).value();
    for (const int source : {-1, 1, 2})
      QVERIFY(has(s.apply(FollowSplitStep{2, 0, source, 1}).error().text(), "Expected the number of an earlier split for 'follow_split', found"));
    QVERIFY(has(s.apply(FollowSplitStep{2, 0, 0, 3}).error().text(), "Expected 1 to 2 lengths for 'follow_split' of a split with 1, found 3"));
    QVERIFY(has(s.apply(FollowSplitStep{2, 9, 0, 1}).error().text(), "Expected a loop below 4 of stage 'c' for 'follow_split', found 9"));
  }
};

QTEST_APPLESS_MAIN(FollowSplitTest)
#include "follow_split_test.moc"
