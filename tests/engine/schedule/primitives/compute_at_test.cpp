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
  /// The innermost piece of a loop, and a loop that it is the last part of, take its place.
  void it_moves_along_with_splits_and_fusions() {
    Builder b(row_sums());
    b.compute_at(1, 2, b.loops(2)[0]);
    const auto pieces = b.split(2, b.loops(2)[0], {3, 1});
    QVERIFY(b.at(1).at_iter->same_as(pieces[2]));
    const ir::Var all = b.fuse(2, {pieces[0], pieces[1], pieces[2]});
    QVERIFY(b.at(1).at_iter->same_as(all));
    b.parallel(2, all);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "T.parallel(6)"));
    QVERIFY(has(text, "row_sum = T.alloc_buffer((1,)"));
  }
  /// Readers must stay inside, and the loop must stay.
  void later_steps_can_break_it() {
    Builder gone(row_sums());
    gone.compute_at(1, 2, gone.loops(2)[0]);
    gone.cache_write(2);
    QVERIFY(has(refusal(std::move(gone)), "Expected loop 'i' of 'relu', where 'row_sum' is computed, found it changed by a later step"));
  }
};

QTEST_APPLESS_MAIN(ComputeAtTest)
#include "compute_at_test.moc"
