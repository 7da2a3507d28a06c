// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class ReorderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void loops_change_places() {
    Builder b(matrix_product());
    const auto l = b.loops(2);
    b.reorder(2, {l[2], l[1], l[0]});
    QVERIFY(b.ok());
    QVERIFY(b.loops(2)[0].same_as(l[2]) && b.loops(2)[2].same_as(l[0]));
    // The sums are set before all loops of the reduction.
    const std::string text = lowered(std::move(b));
    QVERIFY(text.find("i_init") < text.find("for r0"));
  }
  void refusals() {
    const schedule::Schedule s(matrix_product());
    QVERIFY(has(s.apply(schedule::ReorderStep{2, {0, 1}}).error().text(), "Expected all 3 loops of stage 'c' for 'reorder', found 2"));
    QVERIFY(
        has(s.apply(schedule::ReorderStep{2, {0, 1, 1}}).error().text(), "Expected a permutation of the 3 loops of stage 'c' for 'reorder', found index 1"));
  }
};

QTEST_APPLESS_MAIN(ReorderTest)
#include "reorder_test.moc"
