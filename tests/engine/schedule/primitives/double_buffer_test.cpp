// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class DoubleBufferTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void runs_ahead() {
    Builder b(matrix_product());
    const int tile = b.cache_read(0, {2});
    const auto loops = b.loops(3);
    b.reorder(3, {loops[2], loops[0], loops[1]});
    b.compute_at(tile, 3, loops[2]);
    b.double_buffer(tile);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "a_local = T.alloc_buffer((2, "));
    QVERIFY(has(text, "if r0 + 1 < 8:"));
    QVERIFY(has(text, "a_local[(r0 + 1) % 2, "));
    QVERIFY(has(text, "a_local[r0 % 2, "));
  }

  void refusals() {
    Builder root(row_sums());
    root.double_buffer(1);
    QVERIFY(has(refusal(std::move(root)), "Expected a stage that is computed inside a loop for 'double_buffer', found 'row_sum'"));
    Builder parallel(row_sums());
    const ir::Var i = parallel.loops(2)[0];
    parallel.compute_at(1, 2, i);
    parallel.double_buffer(1);
    parallel.parallel(2, i);
    QVERIFY(has(refusal(std::move(parallel)), "Expected a serial or unrolled loop around 'row_sum' for 'double_buffer', found 'i' of 'relu' with 'parallel'"));
    Builder chain(row_sums());
    const int cache = chain.cache_read(0, {1});
    chain.compute_at(2, 3, chain.loops(3)[0]);
    chain.compute_at(cache, 3, chain.loops(3)[0]);
    chain.double_buffer(2);
    QVERIFY(
        has(refusal(std::move(chain)), "Expected 'row_sum' to read nothing that is computed inside loop 'i' of 'relu' for 'double_buffer', found 'x_local'"));
  }
};

QTEST_APPLESS_MAIN(DoubleBufferTest)
#include "double_buffer_test.moc"
