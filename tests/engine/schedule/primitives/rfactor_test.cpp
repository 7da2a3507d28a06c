// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class RfactorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void makes_lanes_of_a_reduction() {
    Builder b(row_sums());
    const auto r = b.split(1, b.loops(1)[1], {2});
    const int rf = b.rfactor(1, r[1]);
    QCOMPARE(rf, 1);
    QCOMPARE(b.at(1).op.name, std::string("row_sum_rf"));
    QCOMPARE(b.at(1).op.output->shape, (std::vector<int64_t>{2, 6}));
    const auto loops = b.loops(1);  // lane, i, r0_0, r1
    b.reorder(1, {loops[1], loops[2], loops[3], loops[0]});
    b.vectorize(1, loops[0]);
    b.parallel(1, loops[1]);
    const std::string text = optimized(std::move(b));
    QVERIFY(has(text, "T.parallel(6)"));
    QVERIFY(has(text, "select("));  // r0 = 7 is odd: the last lane's surplus term is 0
    QVERIFY(has(text, "row_sum_rf[T.ramp(i, 6, 2)] = row_sum_rf[T.ramp(i, 6, 2)] + "));
  }

  void starts_from_the_identity() {
    for (const auto& [reducer, text] :
         {std::pair(te::Reducer::max, "max(row_sum[i_1], row_sum_rf[i_1, "), std::pair(te::Reducer::prod, "row_sum[i_1] * row_sum_rf[i_1, ")}) {
      Builder b(row_sums(reducer));
      const auto loops = b.loops(1);
      b.rfactor(1, loops[2], 1);
      QVERIFY(has(lowered(std::move(b)), text));
    }
  }

  void refusals() {
    Builder spatial(row_sums());
    spatial.rfactor(1, spatial.loops(1)[0]);
    QVERIFY(has(refusal(std::move(spatial)), "Expected a reduction loop for 'rfactor', found the spatial loop 'i' of stage 'row_sum'"));
    Builder late(row_sums());
    late.split(1, late.loops(1)[0], {2});
    late.rfactor(1, late.loops(1)[2]);
    QVERIFY(has(refusal(std::move(late)), "Expected 'rfactor' before the spatial loops of 'row_sum' are split"));
    Builder position(row_sums());
    position.rfactor(1, position.loops(1)[1], 2);
    QVERIFY(has(refusal(std::move(position)), "Expected a position of 0 to 1 for the new axis of 'row_sum'"));
  }
};

QTEST_APPLESS_MAIN(RfactorTest)
#include "rfactor_test.moc"
