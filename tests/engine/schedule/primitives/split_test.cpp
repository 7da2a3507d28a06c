// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class SplitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_length_that_does_not_divide_is_guarded() {
    Builder b(matrix_product());
    const auto rows = b.split(2, b.loops(2)[0], {2, 3});
    QCOMPARE(rows.size(), size_t{3});
    const schedule::Schedule s = std::move(Builder(b)).finish().value();
    QCOMPARE(s.stages()[2].iters[0].extent, int64_t{2});  // 10 rows in pieces of 2 by 3
    QCOMPARE(s.stages()[2].iters[1].extent, int64_t{2});
    QCOMPARE(s.stages()[2].iters[2].extent, int64_t{3});
    QVERIFY(has(lowered(std::move(b)), "< 10:"));
  }
  void a_length_that_divides_is_not() {
    Builder b(matrix_product());
    b.split(2, b.loops(2)[0], {5});
    QVERIFY(lowered(std::move(b)).find("if ") == std::string::npos);
  }
  void outer_lengths_leave_the_innermost_to_be_derived() {
    const schedule::Schedule s(matrix_product());
    QCOMPARE(extents(s.apply(schedule::SplitStep{2, 1, 12, {3, 2}, false}).value(), 2), (std::vector<int64_t>{10, 3, 2, 2, 8}));
    QCOMPARE(extents(s.apply(schedule::SplitStep{2, 0, 10, {4}, false}).value(), 2), (std::vector<int64_t>{4, 3, 12, 8}));
    QCOMPARE(extents(s.apply(schedule::SplitStep{2, 0, 10, {6}, false}).value(), 2), (std::vector<int64_t>{5, 2, 12, 8}));  // no part is empty
    QVERIFY(has(s.apply(schedule::SplitStep{2, 0, 10, {0}, false}).error().text(), "Expected lengths of at least 1 for 'split', found 0"));
    QVERIFY(has(s.apply(schedule::SplitStep{2, 7, 10, {2}, false}).error().text(), "Expected a loop below 3 of stage 'c' for 'split', found 7"));
  }
  void refusals() {
    const schedule::Schedule s(matrix_product());
    QVERIFY(has(s.apply(schedule::SplitStep{2, 3, 0, {2}}).error().text(), "Expected a loop below 3 of stage 'c' for 'split', found 3"));
    QVERIFY(has(s.apply(schedule::SplitStep{2, 0, 0, {}}).error().text(), "Expected at least one length for 'split', found none"));
    QVERIFY(has(s.apply(schedule::SplitStep{2, 0, 0, {0}}).error().text(), "Expected lengths of at least 1 for 'split', found 0"));
    QVERIFY(has(s.apply(schedule::SplitStep{2, 0, 0, {int64_t{1} << 40, int64_t{1} << 40}}).error().text(), "Expected lengths whose product is at most 2^48"));
    QVERIFY(has(s.apply(schedule::SplitStep{0, 0, 0, {2}}).error().text(), "found the placeholder 'a'"));
    Builder marked(matrix_product());
    marked.unroll(2, marked.loops(2)[0]);
    marked.split(2, marked.loops(2)[0], {2});
    QVERIFY(has(refusal(std::move(marked)), "Expected a loop without annotation for 'split', found 'i' of stage 'c'"));
  }
};

QTEST_APPLESS_MAIN(SplitTest)
#include "split_test.moc"
