// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class CacheWriteTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sums_are_kept_apart() {
    Builder b(matrix_product());
    QCOMPARE(b.cache_write(2, "global"), 2);
    QCOMPARE(b.at(2).op.name, std::string("c_global"));
    QVERIFY(b.at(3).op.reducer == te::Reducer::none);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "c_global[i, j] = c_global[i, j] + a[i, r0] * b[r0, j]"));
    QVERIFY(has(text, "c[i_1, j_1] = c_global[i_1, j_1]"));
  }
  void refusals() {
    Builder late(matrix_product());
    late.split(2, late.loops(2)[0], {2});
    late.cache_write(2);
    QVERIFY(has(refusal(std::move(late)), "Expected a stage without earlier steps for 'cache_write', found 'c'"));
  }
};

QTEST_APPLESS_MAIN(CacheWriteTest)
#include "cache_write_test.moc"
