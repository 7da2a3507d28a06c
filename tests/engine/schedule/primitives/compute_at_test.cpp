// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class ComputeAtTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void only_what_an_iteration_needs() {
    Builder b(row_sums());
    b.compute_at(1, 2, b.loops(2)[0]);
    QVERIFY(has(lowered(std::move(b)), "row_sum = T.alloc_buffer((1,)"));
  }
  void refusals() {
    Builder output(row_sums());
    output.compute_at(2, 2, output.loops(2)[0]);
    QVERIFY(has(refusal(std::move(output)), "Expected a stage that is no output for 'compute_at', found 'relu'"));
    Builder vector(row_sums());
    vector.vectorize(2, vector.loops(2)[0]);
    vector.compute_at(1, 2, vector.loops(2)[0]);
    QVERIFY(has(refusal(std::move(vector)), "Expected a loop that is not vectorised for 'compute_at', found 'i' of 'relu'"));
    QVERIFY(has(schedule::Schedule(row_sums()).apply(schedule::ComputeAtStep{1, 2, 5}).error().text(),
                "Expected a loop below 1 of stage 'relu' for 'compute_at', found 5"));
  }
  /// Readers must stay inside, and the loop must stay.
  void later_steps_can_break_it() {
    Builder gone(row_sums());
    const ir::Var loop = gone.loops(2)[0];
    gone.compute_at(1, 2, loop);
    gone.split(2, loop, {2});
    QVERIFY(has(refusal(std::move(gone)), "Expected loop 'i' of 'relu', where 'row_sum' is computed, found it changed by a later step"));
  }
};

QTEST_APPLESS_MAIN(ComputeAtTest)
#include "compute_at_test.moc"
