// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/similarity.h"

#include <QtTest>

#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::tune;
using namespace tw::tune::fixture;

class SimilarityTest : public QObject {
  Q_OBJECT
  static std::string tag(const records::Task& t) { return similarity_tag(*t.dag, t.flops); }

 private Q_SLOTS:
  void the_same_computation_of_about_the_same_cost_is_alike() {
    QCOMPARE(tag(dense(32, 64, 64)), tag(dense(64, 32, 64)));
    QCOMPARE(tag(dense(32, 64, 64, "other")), tag(dense(32, 64, 64)));
  }
  void other_costs_and_other_computations_are_not() {
    QVERIFY(tag(dense(32, 64, 64)) != tag(dense(32, 64, 128)));
    QVERIFY(tag(conv()) != tag(dense(64, 72, 512)));
    QVERIFY(tag(elementwise(64)) != tag(dense(1, 8, 4)));
  }
};

QTEST_APPLESS_MAIN(SimilarityTest)
#include "similarity_test.moc"
