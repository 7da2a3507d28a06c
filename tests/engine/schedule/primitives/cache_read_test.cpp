// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class CacheReadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void readers_read_the_copy() {
    Builder b(matrix_product());
    QCOMPARE(b.cache_read(0, {2}, "global"), 1);
    QCOMPARE(b.at(1).op.name, std::string("a_global"));
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "a_global[c0, c1] = a[c0, c1]"));
    QVERIFY(has(text, "a_global[i, r0] * b[r0, j]"));
  }
  void refusals() {
    const auto of = [](int stage, std::vector<int> readers, const char* scope = "local") {
      return schedule::Schedule(matrix_product()).apply(schedule::CacheReadStep{stage, scope, std::move(readers)}).error().text();
    };
    QVERIFY(has(of(0, {}), "Expected at least one reader for 'cache_read', found none"));
    QVERIFY(has(of(0, {1}), "Expected readers of 'a' for 'cache_read', found stage 1"));
    QVERIFY(has(of(0, {2}, "drawer"), "Expected the scope 'local', 'shared' or 'global', found 'drawer'"));
    QVERIFY(has(of(9, {2}), "Expected a stage below 3 for 'cache_read', found 9"));
  }
};

QTEST_APPLESS_MAIN(CacheReadTest)
#include "cache_read_test.moc"
