// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/roofline.h"

#include <QtTest>

using namespace tw;

class RooflineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void the_slower_of_arithmetic_and_memory_counts() {
    const measure::Roofline roof{100, {{1000, 50}, {1'000'000, 10}}};
    QCOMPARE(roof.bytes_per_s(1), 50.0);
    QCOMPARE(roof.bytes_per_s(1000), 50.0);
    QCOMPARE(roof.bytes_per_s(1001), 10.0);
    QCOMPARE(roof.bytes_per_s(1e12), 10.0);
    QCOMPARE(roof.least_seconds(1000, 50), 10.0);
    QVERIFY(!roof.memory_bound(1000, 50));
    QCOMPARE(roof.least_seconds(100, 2000), 200.0);
    QVERIFY(roof.memory_bound(100, 2000));
    QCOMPARE(measure::Roofline{}.least_seconds(1, 1), 0.0);  // nothing is known
  }
  void measured_rates_are_positive() {
    const measure::Roofline roof = measure::measure_roofline(runtime::ThreadPool(2), 0.1);
    QVERIFY(roof.levels.size() > 3);
    for (size_t i = 0; i < roof.levels.size(); ++i) {
      QVERIFY(roof.levels[i].bytes_per_s > 0);
      if (i > 0) QVERIFY(roof.levels[i].bytes > roof.levels[i - 1].bytes);
    }
#if defined(__x86_64__)
    QVERIFY(roof.flop_per_s > 0);
#endif
  }
};

QTEST_APPLESS_MAIN(RooflineTest)
#include "roofline_test.moc"
