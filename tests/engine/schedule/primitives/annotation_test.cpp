// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/loop_nest.h"
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class AnnotationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bind_makes_bound_loops() {
    Builder b(matrix_product());
    const auto rows = b.split(2, b.loops(2)[0], {5});
    b.bind(2, rows[0], Annotation::block_x);
    b.bind(2, rows[1], Annotation::thread_x);
    QVERIFY(has(lower::print_loops(std::move(Builder(b)).finish().value()).text, "for i_0 in 2 [blockIdx.x]"));
    const std::string text = optimized(std::move(b));
    QVERIFY(has(text, "for i_0 in T.thread_binding(2, thread=\"blockIdx.x\"):"));
    QVERIFY(has(text, "for i_1 in T.thread_binding(5, thread=\"threadIdx.x\"):"));
  }

  void bind_refusals() {
    Builder reduction(matrix_product());
    reduction.bind(2, reduction.loops(2)[2], Annotation::block_x);
    QVERIFY(has(refusal(std::move(reduction)), "Expected a spatial loop for 'blockIdx.x', found the reduction loop 'r0' of stage 'c'"));
    Builder twice(matrix_product());
    twice.bind(2, twice.loops(2)[0], Annotation::thread_x);
    twice.bind(2, twice.loops(2)[1], Annotation::thread_x);
    QVERIFY(has(refusal(std::move(twice)), "Expected threadIdx.x to be bound once in stage 'c', found 'i' bound to it before 'j'"));
    Builder order(matrix_product());
    order.bind(2, order.loops(2)[0], Annotation::thread_x);
    order.bind(2, order.loops(2)[1], Annotation::block_x);
    QVERIFY(has(refusal(std::move(order)), "Expected blocks outside of threads, found 'j' of 'c' bound to blockIdx.x inside 'i' of 'c' bound to threadIdx.x"));
    Builder nested(row_sums());
    const ir::Var outer = nested.loops(2)[0];
    nested.bind(2, outer, Annotation::thread_x);
    const int cache = nested.cache_read(0, {1});
    nested.compute_at(2, 3, outer);
    nested.compute_at(cache, 3, outer);
    nested.bind(cache, nested.loops(cache)[1], Annotation::thread_x);
    QVERIFY(has(refusal(std::move(nested)),
                "Expected threadIdx.x to be bound once along the loops around 'x_local', found 'c1' of 'x_local' inside 'i' of 'relu'"));
  }
};

QTEST_APPLESS_MAIN(AnnotationTest)
#include "annotation_test.moc"
